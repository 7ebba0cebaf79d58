import type { IvaeConfig, OptimusConfig } from '@hidden-schema/hsn/config/rivals';
import type { Generator } from '@hidden-schema/torch/random';
import type { Tensor } from '@hidden-schema/torch/tensor';
import { activeUnits, DiagonalGaussian, straightWay } from './gaussian.ts';
import { Rival } from './rival.ts';

/** A rival whose latent is D numbers with p(z) = N(0, 1). */
export abstract class GaussianPriorRival extends Rival {
  abstract override readonly config: OptimusConfig | IvaeConfig;

  posterior(beliefs: Tensor): DiagonalGaussian {
    return DiagonalGaussian.from(beliefs);
  }

  read(beliefs: Tensor): Tensor {
    return this.posterior(beliefs).mean;
  }

  priorLogProb(latents: Tensor): Tensor {
    return DiagonalGaussian.standard(latents.dim(0), this.config.latent).logProb(latents);
  }

  fromPrior(count: number, generator: Generator): Tensor {
    return DiagonalGaussian.standard(count, this.config.latent).sample(generator);
  }

  schema(latents: Tensor): Tensor {
    return latents.unsqueeze(1);
  }

  way(first: Tensor, second: Tensor, steps: number): Tensor[] {
    return straightWay(first, second, steps);
  }

  usage(read: Tensor): { active_units: number } {
    return { active_units: activeUnits(read) };
  }
}
