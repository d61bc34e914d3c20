import {createHash} from 'node:crypto'
import type {Trust} from '../trust/trust.ts'
import type {Settings} from './config/settings.ts'

/** Settings that servers of one control plane should share: whichever leads decides by its own. Addresses and folders are each one's own. */
const SHARED = [
  'controlPlaneEndpoint',
  'clusterName',
  'serviceSubnet',
  'dnsDomain',
  'servingCIDRs',
  'servingDomains',
  'signers',
  'authorities',
  'clusterSigning',
  'certificateValidityPeriod',
  'quotaBackendBytes',
  'certificateRequestsPerHour',
  'featureGates',
] as const satisfies readonly (keyof Settings)[]

const LENGTH = 8

const digest = (value: unknown): string =>
  createHash('sha256')
    .update(JSON.stringify(value ?? null))
    .digest('hex')
    .slice(0, LENGTH)

/** Under this name, the id of the key that the machines share. */
export const PLANE_KEY = 'plane keys'

interface Shown extends Pick<Trust, 'authorities' | 'tokenKeys'> {
  planeKeyId?: string | undefined
}

/** Under this name, the controllers that do not run. An upgrade adds controllers, but switches none off. */
const CONTROLLERS = '--controllers'

/**
 * What a server shows of its settings and CAs, so that others can be compared with it: of each a digest, not the value.
 * A server that runs no controllers (`undefined`) shows none: it never leads, so it need not be like the others.
 */
export function digestsOf(
  settings: Settings,
  {authorities, tokenKeys, planeKeyId}: Shown,
  switchedOff: readonly string[] | undefined,
): Record<string, string> {
  const certificates = [...authorities].map(([id, {bundle}]) => [
    id,
    bundle.map(({fingerprint}) => fingerprint),
  ])
  return {
    ...Object.fromEntries(SHARED.map((name) => [name, digest(settings[name])])),
    ...(switchedOff && {[CONTROLLERS]: digest(switchedOff)}),
    CAs: digest(certificates),
    'service account keys': digest(tokenKeys.verification.map(({id}) => id).sort()),
    ...(planeKeyId !== undefined && {[PLANE_KEY]: planeKeyId}),
  }
}

const LONGEST = 4096

/** As it was shown; empty if it cannot be read. */
export function parseDigests(text: string | undefined): Record<string, string> {
  if (text === undefined || text.length > LONGEST) return {}
  try {
    const value: unknown = JSON.parse(text)
    const entries = typeof value === 'object' && value !== null ? Object.entries(value) : []
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
    )
  } catch {
    return {}
  }
}

/** The names in which these differ; one that only some show says nothing. */
export function differing(all: readonly Readonly<Record<string, string>>[]): string[] {
  const names = new Set(all.flatMap((one) => Object.keys(one)))
  return [...names].filter((name) => {
    const values = all.map((one) => one[name]).filter((value) => value !== undefined)
    return new Set(values).size > 1
  })
}
