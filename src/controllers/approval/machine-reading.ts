import type {Machine} from '../../api/machine.ts'
import {isUnknown, type ApproverOpinion, type Unknown} from '../../csr/opinion.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import {currentNames} from './client-facts.ts'
import {readLiveness} from './live-credential.ts'
import {isBootstrappers, machineSituation, type MachineSources} from './machine-facts.ts'
import {machineOpinion, mostPending} from './machine-opinion.ts'
import {dnsNamesOf} from './machine-window.ts'
import {indexOf, orUnknown, type Looking, type Request} from './opinion-reader.ts'
import {machinesWhereServed} from './optional-apis.ts'
import {RecentRequests} from './recent-requests.ts'

/** The Machines, or why there are none to decide by. */
async function inventory({client, options}: Looking): Promise<Machine[] | Unknown> {
  let isServed = true
  const machines = machinesWhereServed(client, () => (isServed = false))
  const {items} = await machines.list(options)
  return isServed ? items : {unknown: 'the cluster does not serve Machines'}
}

/** What the machine approver thinks of a request. */
export async function machineOpinionOn(
  request: Request,
  looking: Looking,
): Promise<ApproverOpinion> {
  const {csr, requested} = request
  const {client, all, now, options} = looking
  const isOurs = requested.signer === KUBELET_CLIENT && isBootstrappers(csr)
  if (!isOurs) return machineOpinion(csr, requested, undefined)
  const found = await orUnknown(
    Promise.all([inventory(looking), all(), readLiveness(client, options)]),
  )
  if (isUnknown(found)) return heldBy(found)
  const [machines, requests, isLive] = found
  if (isUnknown(machines)) return heldBy(machines)
  const recent = new RecentRequests()
  for (const one of requests) recent.see(one.metadata.name ?? '', one)
  const pending = {count: recent.count(now, isLive), most: mostPending(machines.length)}
  const sources: MachineSources = {
    names: currentNames(client, options),
    liveness: () => Promise.resolve(isLive),
    machinesNamed: (dns) =>
      Promise.resolve(machines.filter((one) => dnsNamesOf(one).includes(dns))),
    requestsFor: (nodes) => Promise.resolve(indexOf(client, requests, nodes)),
  }
  const situation = await orUnknown(machineSituation(request, sources, now))
  return machineOpinion(csr, requested, {now, pending, situation})

  function heldBy(situation: Unknown): ApproverOpinion {
    return machineOpinion(csr, requested, {now, pending: {count: 0, most: 0}, situation})
  }
}
