/** `NAME=PATH,NAME=PATH` as a flag gives it, each name once; `expected` says in a fault what was. */
export async function namedPaths(list: string, expected: string): Promise<[string, string][]> {
  const { UserError } = await import('@hidden-schema/base');
  const seen = new Set<string>();
  return list.split(',').map((part) => {
    const [name = '', ...rest] = part.trim().split('=');
    if (name === '' || rest.join('=') === '') throw new UserError(`--corpus has "${part}": ${expected}`);
    if (seen.has(name))
      throw new UserError(`--corpus has "${name}" twice; give each corpus a name of its own`);
    seen.add(name);
    return [name, rest.join('=')];
  });
}
