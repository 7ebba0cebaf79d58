/** Lets the browser store something as a file. */
export function download(name: string, type: string, content: string | Blob): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Dots of a PNG for each unit of the SVG: sharp on paper too. */
const SCALE = 2;

export async function downloadPng(name: string, svg: string): Promise<void> {
  const url = URL.createObjectURL(new Blob([svg], { type: 'image/svg+xml' }));
  try {
    const image = new Image();
    image.src = url;
    await image.decode();
    const canvas = document.createElement('canvas');
    canvas.width = image.naturalWidth * SCALE;
    canvas.height = image.naturalHeight * SCALE;
    canvas.getContext('2d')!.drawImage(image, 0, 0, canvas.width, canvas.height);
    const png = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
    if (png) download(name, 'image/png', png);
  } finally {
    URL.revokeObjectURL(url);
  }
}

/** A drawing of the page as the text of a file of its own, on a ground. */
export function svgText(drawn: SVGSVGElement, ground: string): string {
  const copy = drawn.cloneNode(true) as SVGSVGElement;
  const { width, height } = drawn.viewBox.baseVal;
  copy.removeAttribute('class');
  copy.setAttribute('width', String(width));
  copy.setAttribute('height', String(height));
  copy.setAttribute('preserveAspectRatio', 'xMidYMid meet');
  const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
  rect.setAttribute('width', '100%');
  rect.setAttribute('height', '100%');
  rect.setAttribute('fill', ground);
  copy.prepend(rect);
  return new XMLSerializer().serializeToString(copy);
}
