import type { Browser } from 'playwright-core';

// What of the browser is used below; this file itself runs in Node.
declare function createImageBitmap(image: Blob): Promise<{ width: number; height: number }>;
declare class OffscreenCanvas {
  constructor(width: number, height: number);
  getContext(kind: '2d'): {
    drawImage(image: unknown, x: number, y: number): void;
    getImageData(x: number, y: number, width: number, height: number): { data: Uint8ClampedArray };
  };
}

/** How many pixels of a picture are near a colour. */
export async function pixelsOf(
  browser: Browser,
  picture: Buffer,
  colour: readonly number[],
): Promise<number> {
  const blank = await browser.newPage();
  const count = await blank.evaluate(
    async ({ data, wanted }) => {
      const bytes = Uint8Array.from(atob(data), (char) => char.charCodeAt(0));
      const bitmap = await createImageBitmap(new Blob([bytes]));
      const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d');
      context.drawImage(bitmap, 0, 0);
      const { data: pixels } = context.getImageData(0, 0, bitmap.width, bitmap.height);
      let near = 0;
      for (let at = 0; at < pixels.length; at += 4)
        if (wanted.every((value, channel) => Math.abs(pixels[at + channel]! - value) < 12)) near++;
      return near;
    },
    { data: picture.toString('base64'), wanted: colour },
  );
  await blank.close();
  return count;
}
