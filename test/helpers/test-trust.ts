import {parseBundle} from '../../src/pki/bundle.ts'
import {generateKeys} from '../../src/pki/keys.ts'
import type {ServerTrust} from '../../src/server/server.ts'
import {Reloadable, type Live, type Subscriber} from '../../src/trust/live.ts'
import {createTokenKeys} from '../../src/trust/token-keys.ts'
import type {Bundle, Bundles} from '../../src/trust/trust.ts'

export const bundleOf = (pem: string): Bundle => ({certificates: parseBundle(pem), pem})

/** A live value that a test replaces. */
export function replaceable<Value>(first: Value): Live<Value> & {replace(value: Value): void} {
  const subscribers = new Set<Subscriber<Value>>()
  let current = first
  return {
    get current() {
      return current
    },
    subscribe(changed) {
      subscribers.add(changed)
      return () => subscribers.delete(changed)
    },
    replace(value) {
      current = value
      for (const changed of subscribers) void changed(value)
    },
  }
}

/** Parts of a trust state; the bundles that are not named stay as they are. */
export type TrustParts = Partial<Omit<ServerTrust, 'bundles' | 'generation'>> & {
  bundles?: Partial<Bundles>
}

export interface TestTrust {
  live: Live<ServerTrust>
  /** Replaces parts of it, as a reload of changed files does. */
  change(parts: TrustParts): Promise<void>
}

/** The trust state of a server with one CA for everything, in memory. */
export async function testTrust(
  ca: string,
  serving: ServerTrust['serving'],
  parts: TrustParts = {},
): Promise<TestTrust> {
  const bundle = bundleOf(ca)
  const {privateKey} = await generateKeys('ECDSA-P256')
  let next: Omit<ServerTrust, 'generation'> = {
    bundles: {'api-server': bundle, client: bundle, 'front-proxy': bundle},
    signing: new Map(),
    loginSigners: new Set(),
    serving,
    tokenKeys: createTokenKeys(privateKey),
  }
  const merge = (changed: TrustParts) => {
    next = {...next, ...changed, bundles: {...next.bundles, ...changed.bundles}}
  }
  merge(parts)
  const live = await Reloadable.open(
    (generation) => Promise.resolve({...next, generation}),
    (error) => {
      throw error
    },
  )
  return {
    live,
    async change(changed) {
      merge(changed)
      await live.reload()
    },
  }
}
