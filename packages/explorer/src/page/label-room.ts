interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const overlap = (a: Box, b: Box): boolean =>
  a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

const HEIGHT = 16;
const GAP = 3;

/** Room for words on a drawing, so that none covers another. */
export class LabelRoom {
  #taken: Box[] = [];

  clear(): void {
    this.#taken = [];
  }

  /** Takes the room of words from a place to the right, in the middle of their height; false where it is taken already. */
  take(left: number, middle: number, width: number, force = false): boolean {
    const box = {
      ...{ left: left - GAP, right: left + width + GAP },
      ...{ top: middle - HEIGHT / 2 - GAP, bottom: middle + HEIGHT / 2 + GAP },
    };
    if (!force && this.#taken.some((other) => overlap(box, other))) return false;
    this.#taken.push(box);
    return true;
  }
}
