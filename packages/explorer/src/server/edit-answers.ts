import { RunChanged } from '@hidden-schema/hsn/run/edit-record';
import { Run } from '@hidden-schema/hsn/run/run';
import { pathKinds } from '@hidden-schema/hsn/tasks/tuples/path/path-task';
import {
  mergeSymbols,
  runEdits,
  type SymbolEdit,
  splitSymbol,
  undoEdit,
} from '@hidden-schema/studies/runs/edits';
import { namedSymbols, renameSymbol } from '@hidden-schema/studies/symbols/names';
import type { Answer, Input } from '../shared/api.ts';
import { checkpointKey, checkSymbol } from './checkpoint-key.ts';
import { Fault } from './fault.ts';
import { Reloading } from './reloading.ts';
import { openShown, type RunView, requireAbilities } from './shown.ts';
import type { TaskContext } from './tasks.ts';

const EDITED = 'symbols were edited since this page was loaded; reload and try again';

type Edit = Pick<SymbolEdit, 'what' | 'changed' | 'renumbered'>;

/** Edits that can be undone, in a line each. */
export const editsOf = (directory: string): string[] => runEdits(directory).map(({ what }) => what);

/** Edits of a run's symbols. Each carries the identity of the run that its sender saw, and another run refuses it. */
export abstract class EditAnswers {
  protected readonly directory: string;
  protected readonly latest: Reloading<RunView>;
  protected readonly say: (text: string) => void;

  /** `say` is told what takes time. */
  constructor(directory: string, say: (text: string) => void) {
    this.directory = directory;
    this.say = say;
    this.latest = new Reloading({
      key: () => `${checkpointKey(directory)} ${pathKinds(directory).join()}`,
      open: () => openShown(directory, say),
      close: (shown) => shown.close(),
    });
  }

  rename({ k, name, identity }: Input<'rename'>): Promise<Answer<'rename'>> {
    return this.#from(identity, ({ run }) => {
      checkSymbol(k, run.symbols);
      const before = namedSymbols(this.directory).get(k) ?? null;
      return { symbol: k, name: renameSymbol(this.directory, k, name, { identity }), before };
    });
  }

  merge({ symbols, identity }: Input<'merge'>, { signal }: TaskContext): Promise<Answer<'merge'>> {
    return this.#from(identity, async (shown) => {
      const { run } = requireAbilities(shown, 'levels');
      for (const k of symbols) checkSymbol(k, run.symbols);
      this.say(`merging ${symbols.length} symbols`);
      return this.#edited(await mergeSymbols(this.directory, symbols, { signal, identity }));
    });
  }

  split({ k, identity }: Input<'split'>, { signal }: TaskContext): Promise<Answer<'split'>> {
    return this.#from(identity, async (shown) => {
      checkSymbol(k, requireAbilities(shown, 'levels').run.symbols);
      this.say('splitting the symbol');
      return this.#edited(await splitSymbol(this.directory, k, { signal, identity }));
    });
  }

  undo({ identity }: Input<'undo'>): Promise<Answer<'undo'>> {
    return this.#from(identity, async (shown) => {
      requireAbilities(shown, 'levels');
      const { undone } = await undoEdit(this.directory, { identity });
      return this.#edited({ what: `undone: ${undone}`, changed: [], renumbered: [] });
    });
  }

  /** Compared here, before anything else is checked against the run, and again by the edit itself, under the lock. */
  async #from<T>(identity: string, edit: (shown: RunView) => T | Promise<T>): Promise<T> {
    try {
      if (Run.open(this.directory).identity !== identity) throw new RunChanged(this.directory);
      return await edit(await this.latest.current());
    } catch (error) {
      if (!(error instanceof RunChanged)) throw error;
      this.latest.changed();
      throw new Fault(409, 'edited', EDITED);
    }
  }

  /** What is shown is the run as it is from now on. */
  async #edited({ what, changed, renumbered }: Edit): Promise<Answer<'merge'>> {
    this.latest.changed();
    const { run } = await this.latest.current();
    return {
      ...{ what, symbols: run.symbols, identity: run.run.identity, edits: editsOf(this.directory) },
      changed: [...changed],
      renumbered: renumbered.map(([before, now]): [number, number] => [before, now]),
    };
  }
}
