import { UserError } from '@hidden-schema/base/errors';
import type { Command } from 'commander';
import { print } from './terminal.ts';

const examples = `
Examples:
  $ hsn completion bash >> ~/.bashrc
  $ hsn completion zsh > "$HOME/.zsh/_hsn"     in a folder of $fpath
  $ hsn completion fish > ~/.config/fish/completions/hsn.fish
`;

/** A verb with its options and the verbs within it. */
interface Verb {
  name: string;
  options: string[];
}

export function register(program: Command): void {
  program
    .command('completion')
    .summary('completion of verbs, options and run folders for a shell')
    .description('Print a script that completes verbs, options, and run folders in a shell.')
    .argument('<shell>', 'bash, zsh or fish')
    .addHelpText('after', examples)
    .action(async (shell: string) => {
      const script = scripts[shell];
      if (!script) {
        throw new UserError(`completion is for bash, zsh and fish, got ${shell}`);
      }
      print(script(verbsOf(program)));
    });
}

const verbsOf = (program: Command): Verb[] =>
  program.commands.map((command) => ({
    name: command.name(),
    options: command.options.flatMap(({ long }) => long ?? []),
  }));

/** Folders with a run.json below this one: those are runs. */
const runFolders = "ls -d -- */run.json */*/run.json 2>/dev/null | sed 's#/run.json$##'";

const scripts: Record<string, (verbs: readonly Verb[]) => string> = { bash, zsh, fish };

function bash(verbs: readonly Verb[]): string {
  const cases = verbs.map(({ name, options }) => `    ${name}) options="${options.join(' ')}" ;;`);
  return `_hsn() {
  local word="\${COMP_WORDS[COMP_CWORD]}" options="--help"
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${verbs.map(({ name }) => name).join(' ')} help --help --version" -- "$word"))
    return
  fi
  case "\${COMP_WORDS[1]}" in
${cases.join('\n')}
  esac
  case "$word" in
    -*) COMPREPLY=($(compgen -W "$options --help" -- "$word")) ;;
    *) COMPREPLY=($(compgen -W "$(${runFolders})" -- "$word") $(compgen -f -- "$word")) ;;
  esac
}
complete -o filenames -F _hsn hsn
`;
}

function zsh(verbs: readonly Verb[]): string {
  const cases = verbs.map(({ name, options }) => `    ${name}) options=(${options.join(' ')}) ;;`);
  return `#compdef hsn
_hsn() {
  local -a verbs options runs
  verbs=(${verbs.map(({ name }) => name).join(' ')} help)
  if (( CURRENT == 2 )); then
    compadd -- $verbs --help --version
    return
  fi
  case "$words[2]" in
${cases.join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    compadd -- $options --help
  else
    runs=($(${runFolders}))
    compadd -f -- $runs
    _files
  fi
}
compdef _hsn hsn
`;
}

function fish(verbs: readonly Verb[]): string {
  const names = verbs.map(({ name }) => name).join(' ');
  const lines = verbs.flatMap(({ name, options }) =>
    options.map(
      (option) => `complete -c hsn -n "__fish_seen_subcommand_from ${name}" -l ${option.replace(/^--/, '')}`,
    ),
  );
  return `complete -c hsn -n "__fish_use_subcommand" -f -a "${names} help"
complete -c hsn -n "not __fish_use_subcommand" -a "(${runFolders})"
${lines.join('\n')}
`;
}
