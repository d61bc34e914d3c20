import type {ServingPolicy} from '../controllers/approval/belief.ts'
import type {SignersByName} from '../controllers/signing/decide.ts'
import {readTrust, type TrustSources} from '../trust/read-trust.ts'
import type {Trust} from '../trust/trust.ts'
import type {Plane} from './config/plane.ts'
import type {Settings} from './config/settings.ts'
import {findPlane} from './config/stored.ts'
import {readGeneration} from './last-rotation.ts'
import {findPlaneKeyId} from './plane-key.ts'
import {reservedBySettings, servingPolicy, type ServingChoices} from './serving-policy.ts'
import {signersOf, trustSources, type SigningSettings} from './signing.ts'

/** What a server rereads, as one value: all of it changes at once. */
export interface PlaneState extends Trust {
  /** Where the trust was read from. */
  sources: TrustSources
  /** Of the control plane, with what an operator has changed since the start. */
  settings: Settings
  signers: SignersByName
  servingPolicy: ServingPolicy
  /** Which arrangement of a rotation these are, or a newer one. */
  rotated: number
  planeKeyId: string | undefined
}

export interface PlaneStateOptions {
  signing: SigningSettings
  /** The flags about kubelets' serving certificates. */
  serving?: ServingChoices | undefined
  log: (line: string) => void
}

/** Reads what a server uses from its files. */
export function planeStateReader(
  plane: Plane,
  {signing, serving, log}: PlaneStateOptions,
): (generation: number) => Promise<PlaneState> {
  const {settings} = plane
  return async (generation) => {
    // An operator may have changed these in the meantime.
    const {signers, authorities, ...stored} = (await findPlane(plane.dir))?.settings ?? settings
    const current = {...plane, settings: {...settings, signers, authorities}}
    // First: what is read after it is of that arrangement or of a newer one.
    const rotated = await readGeneration(plane)
    const sources = await trustSources(current, signing)
    const trust = await readTrust(sources, generation)
    return {
      ...trust,
      sources,
      settings: current.settings,
      signers: signersOf(trust.signing, signing, signers),
      servingPolicy: {...servingPolicy(serving, stored), settings: reservedBySettings(stored)},
      rotated,
      planeKeyId: await findPlaneKeyId(plane, log),
    }
  }
}
