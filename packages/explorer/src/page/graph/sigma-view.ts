import Graphology from 'graphology';
import Sigma from 'sigma';
import type { NodeDisplayData, PartialButFor } from 'sigma/types';
import type { Settings } from 'sigma/settings';
import { type DrawnLink, Looks, type Scene, walkPairs } from './scene.ts';
import { around, type GraphView, type ViewEvents } from './view.ts';

interface EdgeData {
  link: DrawnLink;
}

/** The graph by sigma: tens of thousands of links stay smooth. */
export class SigmaView implements GraphView {
  readonly kind = 'webgl';
  readonly #graph = new Graphology({ type: 'undirected' });
  readonly #sigma: Sigma;
  #drawn: Scene['graph'] | undefined;
  #looks: Looks | undefined;
  #dark = false;

  constructor(container: HTMLElement, events: ViewEvents) {
    this.#sigma = new Sigma(this.#graph, container, {
      allowInvalidContainer: true,
      zIndex: true,
      labelDensity: 0.6,
      labelGridCellSize: 90,
      labelRenderedSizeThreshold: 7,
      labelFont: 'system-ui, sans-serif',
      labelSize: 12,
      stagePadding: 40,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      defaultDrawNodeHover: (context, data, settings) => drawHover(context, data, settings, this.#dark),
      nodeReducer: (node, place) => ({ ...place, ...this.#nodeLook(Number(node)) }),
      edgeReducer: (_, data) => this.#linkLook(data as unknown as EdgeData),
    });
    this.#sigma.on('enterNode', ({ node }) => events.hover(Number(node)));
    this.#sigma.on('leaveNode', () => events.hover(null));
    this.#sigma.on('clickNode', ({ node }) => events.select(Number(node)));
    this.#sigma.on('clickStage', () => events.select(null));
  }

  draw(scene: Scene, links: readonly DrawnLink[]): void {
    this.#dark = scene.dark;
    this.#looks = new Looks(scene, links);
    if (this.#drawn?.layout !== scene.graph.layout || this.#drawn.links !== scene.graph.links)
      this.#fill(scene, links);
    this.#drawn = scene.graph;
    this.#addWalk(scene.walk);
    this.#sigma.setSetting('labelColor', { color: scene.dark ? '#d7dee9' : '#27313f' });
    this.#sigma.refresh();
  }

  flyTo(symbol: number): void {
    const place = this.#sigma.getNodeDisplayData(String(symbol));
    if (!place) return;
    const ratio = Math.min(this.#sigma.getCamera().ratio, 0.45);
    void this.#sigma.getCamera().animate({ x: place.x, y: place.y, ratio }, { duration: 450 });
  }

  fit(symbols: readonly number[]): void {
    const places = symbols.flatMap((symbol) => this.#sigma.getNodeDisplayData(String(symbol)) ?? []);
    if (places.length === 0) return;
    const { x, y, size } = around(places);
    const ratio = Math.min(1, Math.max(0.35, 1.25 * size));
    void this.#sigma.getCamera().animate({ x, y, ratio }, { duration: 450 });
  }

  zoom(factor: number): void {
    const camera = this.#sigma.getCamera();
    void camera.animate({ ratio: camera.getBoundedRatio(camera.ratio * factor) }, { duration: 150 });
  }

  pan(dx: number, dy: number): void {
    const camera = this.#sigma.getCamera();
    void camera.animate(
      { x: camera.x + dx * camera.ratio, y: camera.y - dy * camera.ratio },
      { duration: 120 },
    );
  }

  reset(): void {
    void this.#sigma.getCamera().animatedReset({ duration: 300 });
  }

  destroy(): void {
    this.#sigma.kill();
  }

  #fill({ graph }: Scene, links: readonly DrawnLink[]): void {
    this.#graph.clear();
    for (const { symbol } of graph.nodes)
      this.#graph.addNode(symbol, { x: graph.layout[2 * symbol]!, y: -graph.layout[2 * symbol + 1]! });
    for (const link of links) this.#graph.addEdge(link.i, link.j, { link });
  }

  /** A walk may step where no link is drawn. */
  #addWalk(walk: Scene['walk']): void {
    for (const [i, j] of walkPairs(walk)) {
      if (this.#graph.hasEdge(i, j)) continue;
      this.#graph.addEdge(i, j, { link: { i, j, probability: 0, isTrue: false } });
    }
  }

  #nodeLook(symbol: number): Partial<NodeDisplayData> {
    const look = this.#looks?.node(symbol);
    if (!look) return { hidden: true };
    const { colour, radius, label, strong, faint } = look;
    return { color: colour, size: radius, label, forceLabel: strong, zIndex: faint ? 0 : strong ? 2 : 1 };
  }

  #linkLook({ link }: EdgeData) {
    const look = this.#looks?.link(link);
    return look ? { color: look.colour, size: look.width, zIndex: look.level } : { hidden: true };
  }
}

/** The label under the pointer, on a ground of its own. */
function drawHover(
  context: CanvasRenderingContext2D,
  data: PartialButFor<NodeDisplayData, 'x' | 'y' | 'size' | 'label' | 'color'>,
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
