import type {ConfigMap} from '../api/core.ts'
import type {ApiClient} from '../client/api-client.ts'
import {hasCode} from '../errors.ts'
import type {SigningAuthority} from '../pki/authority.ts'
import {formatName} from '../pki/distinguished-name.ts'
import {pinOf} from '../pki/pins.ts'
import type {Trust} from '../trust/trust.ts'

type Maps = Pick<ApiClient, 'configMaps'>

interface MapName {
  namespace: string
  name: string
}

const ATTEMPTS = 5

/** Writes or removes the entry of one reporter in a ConfigMap that several share. */
export async function writeEntry(
  {configMaps}: Maps,
  map: MapName,
  key: string,
  entry: object | undefined,
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      const found = await configMaps.find(map)
      const {[key]: _own, ...others} = found?.data ?? {}
      const data = entry ? {...others, [key]: JSON.stringify(entry)} : others
      const wanted: ConfigMap = {...(found ?? {metadata: map}), data}
      if (found) await configMaps.update(wanted)
      else await configMaps.create(wanted)
      return
    } catch (error) {
      // Another one reports at the same time.
      if (attempt === ATTEMPTS || !hasCode(error, 'CONFLICT', 'ALREADY_EXISTS')) throw error
    }
  }
}

/** The entries of all reporters; undefined for one that cannot be read. */
export async function readEntries({configMaps}: Maps, map: MapName): Promise<[string, unknown][]> {
  const {data = {}} = (await configMaps.find(map)) ?? {}
  return Object.entries(data).map(([key, text]) => [key, parsed(text)])
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A signer that signs with a CA which is not one of the control plane's: its owner replaces that. */
export interface NamedSigner {
  /** As in requests. */
  name: string
  /** The file of the CA, on the machine of the signer. */
  location: string
  subject: string
  pin: string
  notAfter: string
}

/** Where controllers that run elsewhere report what they sign with. */
const SIGNER_REPORTS = {namespace: 'kube-system', name: 'trustadm-signers'}

export const describeSigners = (
  signers: ReadonlyMap<string, Pick<SigningAuthority, 'certificate' | 'location'>>,
): NamedSigner[] =>
  [...signers].map(([name, {certificate, location}]) => ({
    name,
    location,
    subject: formatName(certificate.subject),
    pin: pinOf(certificate),
    notAfter: certificate.notAfter.toISOString(),
  }))

/** The signers of a control plane whose CA an operator names, by flags or as added signers. */
export function namedSignersOf({
  authorities,
  signing,
}: Pick<Trust, 'authorities' | 'signing'>): NamedSigner[] {
  const own = new Set([...authorities.values()].map(({location}) => location))
  return describeSigners(new Map([...signing].filter(([, {location}]) => !own.has(location))))
}

/** Reports what controllers elsewhere sign with. Returns a function that takes it back. */
export async function reportSigners(
  client: Pick<ApiClient, 'configMaps'>,
  host: string,
  signers: readonly NamedSigner[],
): Promise<() => Promise<void>> {
  await writeEntry(client, SIGNER_REPORTS, host, {signers})
  return () => writeEntry(client, SIGNER_REPORTS, host, undefined)
}

const isSigner = (value: unknown): value is NamedSigner => {
  const {name, location, subject, pin, notAfter} = (value ?? {}) as Partial<NamedSigner>
  return [name, location, subject, pin, notAfter].every((text) => typeof text === 'string')
}

export const signersIn = (entry: unknown): NamedSigner[] => {
  const {signers} = (entry ?? {}) as {signers?: unknown}
  return Array.isArray(signers) ? signers.filter(isSigner) : []
}

/** What controllers elsewhere have reported, by their machines. */
export async function readSignerReports(
  client: Pick<ApiClient, 'configMaps'>,
): Promise<{host: string; signers: NamedSigner[]}[]> {
  const entries = await readEntries(client, SIGNER_REPORTS)
  return entries.map(([host, entry]) => ({host, signers: signersIn(entry)}))
}
