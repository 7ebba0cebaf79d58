import type { Diagnosis, Run, Task } from '@hidden-schema/hsn';
import { live, print } from './terminal.ts';

type Fault = NonNullable<Diagnosis['forward']>;
type Summary = Fault['output'];

/** Repeats the batch that went wrong and prints which operator did it; the run stays as it is. */
export async function diagnoseRun(run: Run, task: Task<unknown>): Promise<void> {
  const { diagnose } = await import('@hidden-schema/hsn/run/diagnosis');
  const diagnosis = await diagnose(run, task, (step, of) => {
    if (live.isTTY) live.write(`\rrepeating step ${step} of ${of}`);
  });
  if (live.isTTY) live.write('\r\x1b[2K');
  print(diagnosisText(diagnosis));
}

function diagnosisText({ failure, from, again, forward, backward, calls, notes }: Diagnosis): string {
  const where = failure.batch === undefined ? '' : ` (epoch ${failure.epoch}, batch ${failure.batch})`;
  const lines = [
    ...notes,
    `repeated from ${from === 0 ? 'the beginning' : `checkpoint step-${from}`}: step ${failure.step}${where}, where ${failure.term} was ${failure.value}`,
  ];
  if (!again) {
    lines.push(
      `it did not come again: all ${calls} operators gave finite numbers. It may need the threads (--threads) or the machine of that run`,
    );
    return `${lines.join('\n')}\n`;
  }
  lines.push(`it came again: ${again.term} is ${again.value}, after ${calls} operators`);
  if (forward) lines.push(...faultLines('first in the values, from', forward));
  if (backward) lines.push(...faultLines('first in the gradients, going back through', backward));
  if (!forward && !backward) lines.push('no operator made it: it was in the weights or the data already');
  return `${lines.join('\n')}\n`;
}

function faultLines(what: string, { operator, call, inputs, output, stack, phase }: Fault): string[] {
  return [
    `${what} ${operator} (call ${call}): ${phase === 'forward' ? 'it gave' : 'its gradient was'} ${shown(output)}`,
    ...inputs.map((input) => `  given ${shown(input)}`),
    ...stack
      .slice(0, 3)
      .map((line) => `  at ${line.replace(/\(?(?:file:\/\/)?\S*\/packages\//, '(packages/')}`),
  ];
}

function shown({ shape, dtype, nan, infinite, range }: Summary): string {
  const size = shape.reduce((product, n) => product * n, 1);
  const counts = [nan > 0 ? `${nan} NaN` : '', infinite > 0 ? `${infinite} infinite` : ''].filter(Boolean);
  const wrong = counts.length > 0 ? `${counts.join(' and ')} of ${size}` : 'all finite';
  const between = range ? `, from ${range[0].toPrecision(4)} to ${range[1].toPrecision(4)}` : '';
  return `${dtype}[${shape.join(', ')}]: ${wrong}${between}`;
}
