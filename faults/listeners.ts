import fs from 'node:fs';

/** Listening TCP sockets of a process, as `address:port` in numbers; addresses of IPv6 in brackets. */
export function listenersOf(pid: number): string[] {
  const own = new Set(
    fs.readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(fs.readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        // It was closed meanwhile.
        return [];
      }
    }),
  );
  return ['tcp', 'tcp6'].flatMap((table) =>
    fs
      .readFileSync(`/proc/${pid}/net/${table}`, 'utf8')
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(/\s+/))
      .filter((fields) => fields[3] === '0A' && own.has(fields[9] ?? ''))
      .map((fields) => readable(fields[1]!)),
  );
}

/** `0100007F:1F90`, as the kernel writes it, is 127.0.0.1:8080. */
function readable(text: string): string {
  const [address, port] = text.split(':') as [string, string];
  const words = address.match(/.{8}/g)!.map((word) => Buffer.from(word, 'hex').reverse());
  const shown =
    words.length === 1
      ? [...words[0]!].join('.')
      : `[${Buffer.concat(words)
          .toString('hex')
          .match(/.{4}/g)!
          .map((part) => Number.parseInt(part, 16).toString(16))
          .join(':')}]`;
  return `${shown}:${Number.parseInt(port, 16)}`;
}

/** Whether nothing outside of this machine can reach it. */
export const isLoopback = (listener: string): boolean =>
  listener.startsWith('127.') ||
  listener.startsWith('[0:0:0:0:0:0:0:1]') ||
  /^\[0:0:0:0:0:ffff:7f/.test(listener);

/** Children of a process, with the rank each was given. */
export function ranksOf(pid: number): Map<number, number> {
  const found = new Map<number, number>();
  for (const name of fs.readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = fs.readFileSync(`/proc/${name}/stat`, 'utf8');
      if (Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]) !== pid) continue;
      const environment = fs.readFileSync(`/proc/${name}/environ`, 'utf8');
      found.set(Number(/(?:^|\0)RANK=(\d+)/.exec(environment)?.[1]), Number(name));
    } catch {
      // It ended meanwhile.
    }
  }
  return found;
}
