/** What a tensor argument looked like when an operator failed. */
export interface ArgumentDescription {
  readonly shape: readonly number[];
  readonly dtype: string;
}

/** libtorch's message without the source lines and kernel tables it puts around it. */
function plain(message: string): string {
  return (message.replace(/\[enforce fail at [^\]]*\] [^.]*\. /, '').split('\n\n')[0] ?? '').trim();
}

/** Any failure inside libtorch: the operator, what it was given, and libtorch's message without its C++ trace. */
export class TorchError extends Error {
  override name = 'TorchError';
  readonly operator: string;
  readonly tensors: readonly ArgumentDescription[];

  constructor(operator: string, tensors: readonly ArgumentDescription[], message: string) {
    const operands = tensors.map((t) => `${t.dtype}[${t.shape.join(', ')}]`).join(', ');
    super(`${operator}(${operands}): ${plain(message)}`);
    this.operator = operator;
    this.tensors = tensors.map(({ shape, dtype }) => ({ shape, dtype }));
  }
}

/** The addon is not there, or not for this machine; the message names the command that builds it. */
export class EngineError extends Error {
  override name = 'EngineError';
}

/** A wrong kind of argument, caught before libtorch is called. */
export class ArgumentError extends TypeError {
  override name = 'ArgumentError';
}

/** A tensor was used after its scope, or `free`, had given it back. */
export class UseAfterFreeError extends Error {
  override name = 'UseAfterFreeError';

  constructor(operator: string) {
    super(
      `this tensor, made by ${operator}, was freed: return it from its scope or call keep() on it to use it later`,
    );
  }
}

/** A group of processes cannot be what was asked for. */
export class GroupError extends Error {
  override name = 'GroupError';
}

/** Another process of the group has ended; the message names it. */
export class RankLostError extends GroupError {
  override name = 'RankLostError';
}
