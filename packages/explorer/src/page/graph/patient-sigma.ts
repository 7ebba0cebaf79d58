import Sigma from 'sigma';
import type { CameraState } from 'sigma/types';

/** The second frame after a drawing comes later than this where drawing is slow: without a graphics card, mostly. */
const SLOW_MS = 100;
/** A camera that has rested this long is drawn anew. */
const REST_MS = 120;

/**
 * Sigma for any machine: where drawing is slow, the last picture is moved and scaled with the camera, and drawn anew once
 * the camera rests.
 */
export class PatientSigma extends Sigma {
  #slow = false;
  #drawn: CameraState | undefined;
  #rest: ReturnType<typeof setTimeout> | undefined;

  constructor(...settings: ConstructorParameters<typeof Sigma>) {
    super(...settings);
    this.on('afterRender', () => this.#onDrawn());
  }

  override scheduleRender(): this {
    const camera = this.getCamera().getState();
    if (!this.#slow || !this.#drawn || same(camera, this.#drawn)) return super.scheduleRender();
    this.#movePicture(camera, this.#drawn);
    clearTimeout(this.#rest);
    this.#rest = setTimeout(() => super.scheduleRender(), REST_MS);
    return this;
  }

  override kill(): void {
    clearTimeout(this.#rest);
    super.kill();
  }

  #onDrawn(): void {
    clearTimeout(this.#rest);
    this.#drawn = this.getCamera().getState();
    this.#transform('');
    const began = performance.now();
    requestAnimationFrame(() =>
      requestAnimationFrame(() => {
        this.#slow = performance.now() - began > SLOW_MS;
      }),
    );
  }

  /** The map from where the picture's points are to where the camera now sees them: a scale and a shift. */
  #movePicture(camera: CameraState, drawn: CameraState): void {
    const at = (corner: number, cameraState: CameraState) =>
      this.framedGraphToViewport({ x: corner, y: corner }, { cameraState });
    const [from, to] = [at(0, drawn), at(0, camera)];
    const scale = (at(1, camera).x - to.x) / (at(1, drawn).x - from.x);
    this.#transform(`matrix(${scale},0,0,${scale},${to.x - scale * from.x},${to.y - scale * from.y})`);
  }

  #transform(transform: string): void {
    for (const [layer, canvas] of Object.entries(this.getCanvases())) {
      // The layer that hears the pointer stays where it is.
      if (layer === 'mouse') continue;
      canvas.style.transformOrigin = '0 0';
      canvas.style.transform = transform;
    }
  }
}

function same(a: CameraState, b: CameraState): boolean {
  return a.x === b.x && a.y === b.y && a.ratio === b.ratio && a.angle === b.angle;
}
