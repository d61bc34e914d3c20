import type {CertificateSigningRequest} from '../../api/certificates.ts'
import type {Machine} from '../../api/machine.ts'
import type {ApiClient} from '../../client/api-client.ts'
import type {Informer} from '../../client/informer.ts'
import {shareInformer} from '../../client/shared-informer.ts'
import {isOpen} from '../../csr/conditions.ts'
import {requestedCertificate} from '../../csr/requested-certificate.ts'
import {KUBELET_CLIENT} from '../../csr/signers.ts'
import type {Source} from '../kernel/controller.ts'
import {isBootstrappers} from './machine-facts.ts'
import {dnsNamesOf} from './machine-window.ts'
import type {machinesWhereServed} from './optional-apis.ts'
import {RecentRequests} from './recent-requests.ts'
import {RequestIndex} from './request-index.ts'

type Csr = CertificateSigningRequest

/**
 * The requests of the bootstrapper, and what else asks for the same names. Until the bootstrapper asks for the first time, no
 * request is read: a cluster without a fleet pays nothing for it.
 */
export class BootstrapperRequests implements Source {
  readonly index: RequestIndex
  readonly recent = new RecentRequests()
  readonly #csrs: Pick<ApiClient['csrs'], 'list' | 'watch'>
  #isAwake = false

  constructor(csrs: Pick<ApiClient['csrs'], 'list' | 'watch'>) {
    this.#csrs = csrs
    this.index = new RequestIndex(csrs, KUBELET_CLIENT)
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    const informer: Informer<Csr> = shareInformer(this.#csrs, {
      signal,
      onError,
      onChange: (change) => {
        const {key, held} = change
        const current = ofSigner(change.current)
        const state = current ?? ofSigner(change.previous)
        if (state === undefined) return
        const isOurs = isBootstrappers(state)
        if (!this.#isAwake && !isOurs) return
        if (!this.#isAwake) this.#wake(informer.list())
        this.index.see(key, current, held)
        if (!isOurs) return
        this.recent.see(key, current)
        enqueue(key)
        if (current !== undefined && isOpen(current)) return
        // Of several keys one is left, which need not wait any longer. While there are more, none is approved.
        const {node = ''} = requestedCertificate(state) ?? {}
        for (const other of this.index.openForOneKey(node)) enqueue(other)
      },
    })
    return informer
  }

  #wake(all: readonly Csr[]): void {
    this.#isAwake = true
    for (const csr of all) this.index.see(csr.metadata.name ?? '', csr)
  }
}

/** All who follow requests share one watch: one for another signer counts as none. */
const ofSigner = (csr: Csr | undefined): Csr | undefined =>
  csr?.spec.signerName === KUBELET_CLIENT ? csr : undefined

/** The Machines by the names that nodes may have. */
export class MachinesByName implements Source {
  readonly #machines: ReturnType<typeof machinesWhereServed>
  readonly #concerned: (name: string) => Iterable<string>
  readonly #byName = new Map<string, Map<string, Machine>>()
  #informer: Informer<Machine> | undefined

  /** `concerned`: which keys a change of a Machine with that name concerns. */
  constructor(
    machines: ReturnType<typeof machinesWhereServed>,
    concerned: (name: string) => Iterable<string>,
  ) {
    this.#machines = machines
    this.#concerned = concerned
  }

  start({signal, enqueue, onError}: Parameters<Source['start']>[0]): ReturnType<Source['start']> {
    this.#informer = shareInformer(this.#machines, {
      signal,
      onError,
      onChange: ({key, current, previous}) => {
        const before = previous ? dnsNamesOf(previous) : []
        const now = current ? dnsNamesOf(current) : []
        for (const dns of before) this.#remove(dns, key)
        for (const dns of now) if (current) this.#add(dns, key, current)
        for (const dns of new Set([...before, ...now]))
          for (const one of this.#concerned(dns)) enqueue(one)
      },
    })
    return this.#informer
  }

  get size(): number {
    return this.#informer?.size ?? 0
  }

  /** Whether a Machine with that name has been seen so far. */
  has(name: string): boolean {
    return this.#byName.has(name)
  }

  /** Waits for the first list, so that "missing" never means "not read yet". */
  async named(dns: string): Promise<Machine[]> {
    await this.#informer?.synced
    return [...(this.#byName.get(dns)?.values() ?? [])]
  }

  #add(dns: string, key: string, machine: Machine): void {
    this.#byName.set(dns, (this.#byName.get(dns) ?? new Map<string, Machine>()).set(key, machine))
  }

  #remove(dns: string, key: string): void {
    const machines = this.#byName.get(dns)
    machines?.delete(key)
    if (machines?.size === 0) this.#byName.delete(dns)
  }
}
