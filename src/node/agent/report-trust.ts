import type {ApiClient} from '../../client/api-client.ts'
import {authoritiesOf, type TrustedClusterInfo} from '../../discovery/cluster-info.ts'
import {parseBundle} from '../../pki/bundle.ts'
import type {Certificate} from '../../pki/certificate.ts'
import {pinOf, type Pin} from '../../pki/pins.ts'
import type {Pair} from '../certificate-manager/pair.ts'
import {kubeletAuthorities} from '../cluster-info-store.ts'
import {
  formatTrustReport,
  reportedCertificate,
  TRUST_REPORT,
  type TrustReport,
} from '../trust-report.ts'

interface Held {
  info: TrustedClusterInfo
  client: Pair
  serving: Pair | undefined
  lastRenewal: string | undefined
}

const pinsIn = (certificates: readonly Certificate[]): Pin[] => [
  ...new Set(certificates.map(pinOf)),
]

export function trustReport({info, client, serving, lastRenewal}: Held): string {
  const callers = info.issuers?.kubeletClientCa === undefined ? undefined : kubeletAuthorities(info)
  const report: TrustReport = {
    trusts: pinsIn(authoritiesOf(info)),
    ...(callers !== undefined && {kubeletClients: pinsIn(parseBundle(callers))}),
    client: reportedCertificate(client.certificate),
    ...(serving && {serving: reportedCertificate(serving.certificate)}),
    ...(lastRenewal !== undefined && {lastRenewal}),
  }
  return formatTrustReport(report)
}

/** Writes the report on the Node. An unchanged one is left alone. */
export async function reportTrust(
  {nodes}: Pick<ApiClient, 'nodes'>,
  nodeName: string,
  report: string,
  signal: AbortSignal,
): Promise<void> {
  const {metadata} = await nodes.get(nodeName, {signal})
  if (metadata.annotations?.[TRUST_REPORT] === report) return
  const patch = {metadata: {annotations: {[TRUST_REPORT]: report}}}
  await nodes.patch(nodeName, patch, {type: 'merge', signal})
}
