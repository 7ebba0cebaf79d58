/** A rectangle by its centre. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Area {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

const mostRounds = 600;
/** Boxes that are jammed between the edges find no room the shorter way: now and then they go the other. */
const otherWayEvery = 10;

/** Boxes moved apart, each as little as may be, until none lies on another; all stay in the area. */
export function spreadBoxes(boxes: readonly Box[], area: Area): Box[] {
  const moved = boxes.map((box) => ({ ...box }));
  for (let round = 0; round < mostRounds; round++) {
    const longer = round % otherWayEvery === otherWayEvery - 1;
    let touched = false;
    for (const [at, a] of moved.entries())
      for (const b of moved.slice(at + 1)) touched = separate(a, b, longer) || touched;
    for (const box of moved) hold(box, area);
    if (!touched) break;
  }
  return moved;
}

/** Pushes two boxes apart, a half each, along the shorter or the longer way; whether they lay on each other. */
function separate(a: Box, b: Box, longer: boolean): boolean {
  const across = (a.width + b.width) / 2 - Math.abs(a.x - b.x);
  const down = (a.height + b.height) / 2 - Math.abs(a.y - b.y);
  if (across <= 0 || down <= 0) return false;
  // A little more than needed, so that pushes do not go on for ever in ever smaller steps.
  if (across < down !== longer) {
    const push = (across / 2 + 0.5) * (a.x < b.x ? 1 : -1);
    a.x -= push;
    b.x += push;
  } else {
    const push = (down / 2 + 0.5) * (a.y < b.y ? 1 : -1);
    a.y -= push;
    b.y += push;
  }
  return true;
}

function hold(box: Box, { left, top, right, bottom }: Area): void {
  box.x = Math.min(right - box.width / 2, Math.max(left + box.width / 2, box.x));
  box.y = Math.min(bottom - box.height / 2, Math.max(top + box.height / 2, box.y));
}
