import type { Settings } from 'sigma/settings';
import type { NodeDisplayData, PartialButFor } from 'sigma/types';
import type { LabelRoom } from '../label-room.ts';

type Labelled = PartialButFor<NodeDisplayData, 'x' | 'y' | 'size' | 'label' | 'color'>;

/** A label beside its node, on the side where there is room, with a rim that keeps links off its letters; none where another has its room. */
export function drawLabel(
  context: CanvasRenderingContext2D,
  { x, y, size, label, forceLabel }: Labelled,
  settings: Settings,
  { dark, room }: { dark: boolean; room: LabelRoom },
): void {
  if (!label) return;
  context.font = `${settings.labelSize}px ${settings.labelFont}`;
  const right = x + size + 4;
  const { width } = context.measureText(label);
  const fits = right + width < context.canvas.clientWidth;
  if (!room.take(fits ? right : x - size - 4 - width, y, width, forceLabel)) return;
  context.textAlign = fits ? 'left' : 'right';
  const [from, below] = [fits ? right : x - size - 4, y + settings.labelSize / 3];
  context.lineJoin = 'round';
  context.lineWidth = 3;
  context.strokeStyle = dark ? '#0e1319b0' : '#f5f7fab0';
  context.strokeText(label, from, below);
  context.fillStyle = dark ? '#d7dee9' : '#27313f';
  context.fillText(label, from, below);
  context.textAlign = 'left';
}

/** The label under the pointer, on a ground of its own. */
export function drawHover(
  context: CanvasRenderingContext2D,
  data: Labelled,
  settings: Settings,
  dark: boolean,
): void {
  const { x, y, size, label, color } = data;
  context.beginPath();
  context.arc(x, y, size + 3, 0, 2 * Math.PI);
  context.strokeStyle = color;
  context.lineWidth = 2;
  context.stroke();
  if (!label) return;
  context.font = `600 ${settings.labelSize}px ${settings.labelFont}`;
  const width = context.measureText(label).width + 14;
  context.beginPath();
  context.roundRect(x + size + 6, y - 12, width, 24, 5);
  context.fillStyle = dark ? '#1d2530' : '#ffffff';
  context.strokeStyle = dark ? '#45536a' : '#c3ccd8';
  context.lineWidth = 1;
  context.fill();
  context.stroke();
  context.fillStyle = dark ? '#e8edf5' : '#1c2530';
  context.fillText(label, x + size + 13, y + settings.labelSize / 3);
}
