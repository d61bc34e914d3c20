import type {ConfigMap} from '../api/core.ts'
import {
  BOOTSTRAPPER_NAMESPACE,
  bootstrapperBinding,
  BUNDLE_PLACES,
  bundleAuthorities,
  type BundlePlace,
} from '../csr/bootstrapper.ts'
import {encodeBundle} from '../pki/bundle.ts'
import type {Certificate} from '../pki/certificate.ts'
import {pinOf} from '../pki/pins.ts'
import type {Live, Subscriber} from '../trust/live.ts'
import {
  authorityRevocation,
  isOfCredential,
  readRevocations,
  REVOCATION_NAMES,
  REVOCATION_NAMESPACE,
} from '../trust/revocations.ts'
import type {Trust} from '../trust/trust.ts'
import type {BootstrapAuthorities} from './authn/client-certificates.ts'
import type {Registry} from './registry/registry.ts'
import {parse, type StoredObject} from './registry/stored-object.ts'

/** A trust state together with the CAs of bootstrap credentials. */
export type Extended<Base> = Base & {bootstrap: readonly BootstrapAuthorities[]}

/** The CAs by which clients may be known: those of the cluster, and those of bootstrap credentials. */
export const clientAuthoritiesPem = ({
  bundles,
  bootstrap,
}: Extended<Pick<Trust, 'bundles'>>): string =>
  encodeBundle([
    ...bundles.client.certificates,
    ...bootstrap.flatMap(({certificates}) => certificates),
  ])

/** What other servers are told: they accept any user from these CAs, so only those that kube-system lists. */
export const delegatedAuthoritiesPem = ({
  bundles,
  bootstrap,
}: Extended<Pick<Trust, 'bundles'>>): string =>
  clientAuthoritiesPem({
    bundles,
    bootstrap: bootstrap.filter(({bootstrapper}) => bootstrapper === BOOTSTRAPPER_NAMESPACE),
  })

type OnError = (message: string, error: unknown) => void

/**
 * The trust state of the files, extended by the CAs in the ConfigMaps of bootstrap credentials, which it follows. A CA that was revoked does not count,
 * also if its ConfigMap is applied again from a copy.
 */
export class BootstrapTrust<Base extends Pick<Trust, 'generation'>> implements Live<
  Extended<Base>
> {
  readonly #base: Live<Base>
  readonly #onError: OnError
  readonly #subscribers = new Set<Subscriber<Extended<Base>>>()
  readonly #found = new Map<BundlePlace, readonly Certificate[]>()
  /** The entries of the list of revocations that are about CAs, by the ConfigMap that they are in. */
  readonly #revoked = new Map<string, ReadonlySet<string>>()
  #isInUse: (place: BundlePlace) => boolean = () => false
  #current: Extended<Base>

  constructor(base: Live<Base>, onError: OnError) {
    this.#base = base
    this.#onError = onError
    this.#current = {...base.current, generation: 1, bootstrap: []}
  }

  get current(): Extended<Base> {
    return this.#current
  }

  subscribe(changed: Subscriber<Extended<Base>>): () => void {
    this.#subscribers.add(changed)
    return () => this.#subscribers.delete(changed)
  }

  /** Follows the files and what is stored. Returns a function that stops it. */
  follow(registry: Registry): () => void {
    const store = registry.store('', 'configmaps')
    const bindings = registry.store('rbac.authorization.k8s.io', 'clusterrolebindings')
    // Somebody who may create namespaces could otherwise create OpenShift's, and a ConfigMap in it.
    this.#isInUse = ({bootstrapper}) =>
      bootstrapper === BOOTSTRAPPER_NAMESPACE ||
      bindings?.get('', bootstrapperBinding(bootstrapper)) !== undefined
    for (const place of BUNDLE_PLACES) this.#see(place, store?.get(place.namespace, place.name))
    for (const name of REVOCATION_NAMES) {
      this.#seeRevoked(name, store?.get(REVOCATION_NAMESPACE, name))
    }
    this.#extend()
    store?.onEvents((events) => {
      let isChanged = false
      for (const {current, previous} of events) {
        const either = current ?? previous
        const place = placeOf(either)
        if (place !== undefined) isChanged = this.#see(place, current) || isChanged
        if (either !== undefined && isOfList(either))
          isChanged = this.#seeRevoked(either.name, current) || isChanged
      }
      if (isChanged) this.#apply()
    })
    bindings?.onEvents((events) => {
      if (events.some(({current, previous}) => isBootstrappers(current ?? previous))) this.#apply()
    })
    return this.#base.subscribe(() => this.#replace())
  }

  /** Takes over a ConfigMap, or its absence. Returns whether other CAs are trusted now. */
  #see(place: BundlePlace, stored: StoredObject | undefined): boolean {
    const before = encodeBundle(this.#found.get(place) ?? [])
    this.#found.set(place, stored === undefined ? [] : this.#read(place, stored))
    return encodeBundle(this.#found.get(place) ?? []) !== before
  }

  #seeRevoked(name: string, stored: StoredObject | undefined): boolean {
    const {data = {}} = stored === undefined ? {} : (parse(stored) as ConfigMap)
    const {revocations} = readRevocations(data)
    const revoked = new Set(revocations.map(({id}) => id).filter(isOfCredential))
    const before = this.#revoked.get(name) ?? new Set()
    this.#revoked.set(name, revoked)
    return revoked.size !== before.size || [...revoked].some((id) => !before.has(id))
  }

  #isRevoked(authority: Certificate): boolean {
    const id = authorityRevocation(pinOf(authority))
    return [...this.#revoked.values()].some((ids) => ids.has(id))
  }

  #read({namespace, name}: BundlePlace, stored: StoredObject): readonly Certificate[] {
    try {
      return bundleAuthorities(parse(stored) as ConfigMap)
    } catch (error) {
      this.#onError(`no CA of the ConfigMap ${namespace}/${name} is trusted`, error)
      return []
    }
  }

  #extend(): void {
    const bootstrap = [...this.#found]
      .filter(([place]) => this.#isInUse(place))
      .map(([{bootstrapper}, found]) => {
        return {bootstrapper, certificates: found.filter((one) => !this.#isRevoked(one))}
      })
      .filter(({certificates}) => certificates.length > 0)
    const generation = this.#current.generation + 1
    this.#current = {...this.#base.current, generation, bootstrap}
  }

  async #replace(): Promise<void> {
    this.#extend()
    const value = this.#current
    await Promise.all(Array.from(this.#subscribers, async (changed) => changed(value)))
  }

  #apply(): void {
    this.#replace().catch((error: unknown) =>
      this.#onError('cannot apply the CAs of bootstrap credentials', error),
    )
  }
}

const isBootstrappers = (binding: StoredObject | undefined): boolean =>
  BUNDLE_PLACES.some(({bootstrapper}) => binding?.name === bootstrapperBinding(bootstrapper))

const LIST = new Set(REVOCATION_NAMES)

const isOfList = ({namespace, name}: StoredObject): boolean =>
  namespace === REVOCATION_NAMESPACE && LIST.has(name)

const placeOf = (stored: StoredObject | undefined): BundlePlace | undefined =>
  BUNDLE_PLACES.find(({namespace, name}) => name === stored?.name && namespace === stored.namespace)
