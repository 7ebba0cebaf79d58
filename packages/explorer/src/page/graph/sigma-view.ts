import Graphology from 'graphology';
import { EdgeLineProgram } from 'sigma/rendering';
import type { NodeDisplayData } from 'sigma/types';
import { LabelRoom } from '../label-room.ts';
import { Looks } from './looks.ts';
import { drawHover, drawLabel } from './node-labels.ts';
import { PatientSigma } from './patient-sigma.ts';
import { placesOf } from './places.ts';
import { type DrawnLink, highlightedWalks, linkOf, type Scene, steppedPairs } from './scene.ts';
import { around, type CameraPlace, type GraphView, type ViewEvents } from './view.ts';

interface EdgeData {
  link: DrawnLink;
}

/** From so many links on, plain ones are hairlines and rest while the graph moves: machines without a graphics card keep up. */
const MANY_LINKS = 5000;

/** The graph by sigma: tens of thousands of links stay smooth. */
export class SigmaView implements GraphView {
  readonly kind = 'webgl';
  readonly #graph = new Graphology({ type: 'undirected' });
  readonly #sigma: PatientSigma;
  /** Sigma itself follows the window only. */
  readonly #watch: ResizeObserver;
  readonly #room = new LabelRoom();
  #drawn: { layout: readonly number[]; links: readonly DrawnLink[] } | undefined;
  #looks: Looks | undefined;
  #dark = false;
  #many = false;
  /** A drawing waits for its frame; until then places are not in the drawing's own measure. */
  #waits = false;

  constructor(container: HTMLElement, events: ViewEvents) {
    this.#sigma = new PatientSigma(this.#graph, container, {
      allowInvalidContainer: true,
      zIndex: true,
      edgeProgramClasses: { hairline: EdgeLineProgram },
      labelDensity: 4,
      labelGridCellSize: 130,
      labelRenderedSizeThreshold: 3,
      labelFont: 'system-ui, sans-serif',
      labelSize: 12,
      stagePadding: 40,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      defaultDrawNodeLabel: (context, data, settings) =>
        drawLabel(context, data, settings, { dark: this.#dark, room: this.#room }),
      defaultDrawNodeHover: (context, data, settings) => drawHover(context, data, settings, this.#dark),
      nodeReducer: (node, place) => ({ ...place, ...this.#nodeLook(Number(node)) }),
      edgeReducer: (_, data) => this.#linkLook(data as unknown as EdgeData),
    });
    this.#sigma.on('enterNode', ({ node }) => events.hover(Number(node)));
    this.#sigma.on('leaveNode', () => events.hover(null));
    this.#sigma.on('clickNode', ({ node }) => events.select(Number(node)));
    this.#sigma.on('clickStage', () => events.select(null));
    this.#sigma.on('beforeRender', () => this.#room.clear());
    this.#sigma.on('afterRender', () => {
      this.#waits = false;
    });
    this.#watch = new ResizeObserver(() => this.#sigma.resize().scheduleRender());
    this.#watch.observe(container);
    this.#sigma.getCamera().on('updated', (place) => events.move?.(place));
  }

  draw(scene: Scene, links: readonly DrawnLink[]): void {
    this.#dark = scene.dark;
    this.#looks = new Looks(scene, links);
    if (this.#drawn?.layout !== scene.graph.layout || this.#drawn.links !== links) this.#fill(scene, links);
    this.#drawn = { layout: scene.graph.layout, links };
    this.#addSteps(scene);
    // With the next frame, so that many changes are drawn once.
    this.#waits = true;
    this.#sigma.refresh({ schedule: true });
  }

  flyTo(symbol: number): void {
    const place = this.#place(symbol);
    if (!place) return;
    const ratio = Math.min(this.#sigma.getCamera().ratio, 0.45);
    void this.#sigma.getCamera().animate({ x: place.x, y: place.y, ratio }, { duration: 450 });
  }

  fit(symbols: readonly number[]): void {
    const places = symbols.flatMap((symbol) => this.#place(symbol) ?? []);
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

  follow(place: CameraPlace): void {
    this.#sigma.getCamera().setState(place);
  }

  destroy(): void {
    this.#watch.disconnect();
    this.#sigma.kill();
  }

  #place(symbol: number): NodeDisplayData | undefined {
    if (this.#waits) this.#sigma.refresh();
    return this.#sigma.getNodeDisplayData(String(symbol));
  }

  #fill({ graph }: Scene, links: readonly DrawnLink[]): void {
    this.#graph.clear();
    const places = placesOf(graph.layout);
    for (const { symbol } of graph.nodes)
      this.#graph.addNode(symbol, { x: places[2 * symbol]!, y: -places[2 * symbol + 1]! });
    for (const link of links) this.#graph.addEdge(link.i, link.j, { link });
    this.#many = links.length > MANY_LINKS;
    this.#sigma.setSetting('hideEdgesOnMove', this.#many);
  }

  /** A walk may step where no link is drawn. */
  #addSteps(scene: Scene): void {
    for (const { i, j } of steppedPairs(highlightedWalks(scene))) {
      if (this.#graph.hasEdge(i, j)) continue;
      this.#graph.addEdge(i, j, {
        link: { i, j, probability: linkOf(scene.graph, i, j), strength: 0, isTrue: false },
      });
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
    if (!look) return { hidden: true };
    const type = this.#many && look.level <= 1 ? 'hairline' : 'line';
    return { color: look.colour, size: look.width, zIndex: look.level, type };
  }
}
