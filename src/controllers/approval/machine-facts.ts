import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Machine} from '../../api/machine.ts'
import {bootstrapperNamespaceOf} from '../../csr/bootstrapper.ts'
import {isNodeName} from '../../csr/node-names.ts'
import type {RequestedCertificate} from '../../csr/requested-certificate.ts'
import {nameClaims, type NameSources} from './client-opinion.ts'
import type {MachineSituation} from './machine-opinion.ts'
import {dnsNamesOf} from './machine-window.ts'
import type {IsLive} from './live-credential.ts'
import {canonicalDns} from './address-book.ts'
import {isHeld, reservedKey} from './node-record.ts'
import type {Maker, RequestIndex} from './request-index.ts'

type Csr = CertificateSigningRequest

/** Whether the machine approver has to decide on a request, as far as that depends on who asks. */
export const isBootstrappers = ({spec}: Pick<Csr, 'spec'>): boolean => isBootstrapper(spec.username)

const isBootstrapper = (username?: string): boolean =>
  bootstrapperNamespaceOf(username) !== undefined

/** How the facts about a machine are found, by the approver and by `certificate show`. */
export interface MachineSources {
  names: NameSources
  /** Whose requests count as rivals; asked only if there are some. */
  liveness: () => Promise<IsLive>
  /** The Machines with that InternalDNS. */
  machinesNamed: (dns: string) => Promise<readonly Machine[]>
  /** The requests for these nodes. */
  requestsFor: (
    nodes: readonly string[],
  ) => Promise<Pick<RequestIndex, 'approvedFor' | 'newerThan' | 'rivalsFor'>>
}

/** Another name of the Machine under which it is used already: one Machine is good for one node. */
async function otherNodeOf(
  others: readonly string[],
  {findNode, findRecord}: NameSources,
  requests: Pick<RequestIndex, 'approvedFor'>,
  now: Date,
): Promise<string | undefined> {
  for (const other of others) {
    const record = await findRecord(other)
    const isTaken =
      requests.approvedFor(other, '').length > 0 ||
      (record !== undefined && (isHeld(record, now) || reservedKey(record, now) !== undefined))
    if (isTaken || (isNodeName(other) && (await findNode(other)) !== undefined)) return other
  }
  return undefined
}

export async function machineSituation(
  {csr, requested}: {csr: Csr; requested: RequestedCertificate},
  {names, liveness, machinesNamed, requestsFor}: MachineSources,
  now: Date,
): Promise<MachineSituation> {
  const {node = '', pin} = requested
  const machines = await machinesNamed(canonicalDns(node))
  const [machine, ...more] = machines
  // Several Machines are held anyway.
  const known = machine === undefined || more.length > 0 ? [] : dnsNamesOf(machine)
  const others = known.filter((name) => name !== node)
  const requests = await requestsFor([node, ...others])
  const rivalsWhere = (isRival: (maker: Maker) => boolean) =>
    [node, ...others].flatMap((name) => requests.rivalsFor(name, pin, isRival))
  let rivals = rivalsWhere(({requester}) => isBootstrapper(requester))
  if (rivals.length > 0) {
    const isLive = await liveness()
    rivals = rivalsWhere((maker) => isBootstrapper(maker.requester) && isLive(maker))
  }
  return {
    machines,
    otherNode: await otherNodeOf(others, names, requests, now),
    rivals,
    claims: await nameClaims(names, requests, {csr, requested}),
  }
}
