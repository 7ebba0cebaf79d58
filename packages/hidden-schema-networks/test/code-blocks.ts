// Code blocks of Markdown pages, and the commands in those of the shell.

export interface CodeBlock {
  page: string;
  /** Of its fence, from 1. */
  line: number;
  language: string;
  text: string;
  /** Why a test does not run it, where the page says so: `<!-- not run: why -->` above the fence. */
  notRun?: string;
}

/** A command as the shell would start it, and what is piped into it. */
export interface ShellCommand {
  words: string[];
  input?: string;
}

const fence = /^( *)```(\S*)\n([\s\S]*?)^\1```$/gm;

/** All blocks of a page. */
export function codeBlocks(page: string, markdown: string): CodeBlock[] {
  return [...markdown.matchAll(fence)].map((match) => {
    const before = markdown.slice(0, match.index);
    const reason = /<!-- not run: ([^>]+) -->\n$/.exec(before)?.[1];
    return {
      page,
      line: before.split('\n').length,
      language: match[2]!,
      text: match[3]!,
      ...(reason === undefined ? {} : { notRun: reason }),
    };
  });
}

const token = /\\\n|\n|&&|\||#[^\n]*|(?:'[^']*'|"[^"]*"|\\.|[^\s'"\\|&])+|\s|./g;

/** The commands of a block, in their order. What this does not know of the shell is an error. */
export function shellCommands(text: string): ShellCommand[] {
  const commands: ShellCommand[] = [];
  let words: string[] = [];
  let input: string | undefined;
  const end = (): void => {
    if (words.length > 0) commands.push({ words, ...(input === undefined ? {} : { input }) });
    words = [];
    input = undefined;
  };
  for (const [part] of text.matchAll(token)) {
    if (part === '\n' || part === '&&') end();
    else if (part === '|') {
      if (words[0] !== 'echo') throw new Error(`only echo is piped, got ${words.join(' ')}`);
      const piped = `${words.slice(1).join(' ')}\n`;
      words = [];
      input = piped;
    } else if (part.startsWith('#') || /^(\\\n|\s)$/.test(part)) continue;
    else if (/^[&;<>`$]|[$`]/.test(part))
      throw new Error(`a block of the shell holds ${part}, which is not understood`);
    else words.push(unquoted(part));
  }
  end();
  return commands;
}

const unquoted = (word: string): string =>
  word.replace(/'([^']*)'|"([^"]*)"|\\(.)/g, (_, single, double, escaped) => single ?? double ?? escaped);

/** The words after `hsn`, where a command is one of the command line's; the demo's script is one too. */
export function hsnWords({ words }: ShellCommand): string[] | undefined {
  const plain = words[0] === 'npx' ? words.slice(1) : words;
  if (plain[0] === 'hsn') return plain.slice(1);
  if (words.slice(0, 3).join(' ') === 'npm run demo')
    return ['demo', ...words.slice(words[3] === '--' ? 4 : 3)];
  return undefined;
}
