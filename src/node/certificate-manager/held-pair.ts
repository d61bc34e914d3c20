import {nodeOfUser} from '../../csr/node-names.ts'
import {shellWord} from '../../client/printable.ts'
import {TrustError} from '../../errors.ts'
import type {Clock} from '../../runtime.ts'
import {isOwnCertificate} from '../client-certificate.ts'
import type {CredentialStore, StoredCredential} from '../credential-store.ts'
import {readKubeletConf, type NamedPair} from '../kubelet-conf.ts'
import {chooseNewer} from './pair.ts'

/** The pair of a node, and why it is that one. */
export interface HeldPair extends StoredCredential {
  nodeName: string
  /**
   * `link`: the one in use. `unlinked`: the link to it is missing. `other folder`: kubelet.conf names another folder than `--cert-dir`.
   * `kubelet.conf`: it is there, or in files that it names, and newer than the one in use.
   */
  from: 'link' | 'unlinked' | 'other folder' | 'kubelet.conf'
  /** Whether no certificate manager has got it. Such a one is renewed at once, as the kubelet does with its bootstrap pair. */
  isGiven: boolean
  /** A pair inside kubelet.conf that is not used. */
  leftInside?: NamedPair | undefined
}

interface Places {
  dir: string
  store: CredentialStore
}

/** Finds the pair of a node: the managed one, or the one that kubelet.conf names if that is newer. Changes nothing. */
export async function findHeldPair({dir, store}: Places, now: Date): Promise<HeldPair | undefined> {
  const linked = await store.read()
  const managed = linked ?? (await store.findUnlinked(now))
  const named = await namedPair({dir, store}, managed, now)
  const chosen = choose(managed, named, now)
  if (!chosen) return undefined
  const nodeName = requireNode(chosen, chosen === named)
  if (managed && named) requireSameNode(managed, named)
  if (chosen !== named) {
    const isSame = named?.certificate.fingerprint === chosen.certificate.fingerprint
    const leftInside = isSame ? undefined : named
    const from = linked ? 'link' : 'unlinked'
    return {...chosen, nodeName, from, isGiven: isSame && !named.isManaged, leftInside}
  }
  return {
    ...named,
    nodeName,
    from: named.isManaged ? 'other folder' : 'kubelet.conf',
    isGiven: !named.isManaged,
  }
}

async function namedPair(
  {dir, store}: Places,
  managed: StoredCredential | undefined,
  now: Date,
): Promise<NamedPair | undefined> {
  const conf = await readKubeletConf(dir)
  try {
    return await conf?.pair(store.folder, now)
  } catch (error) {
    // Without a key inside, nothing is lost with the file, and the managed pair is enough.
    if (managed && !conf?.hasKeyInside) return undefined
    throw error
  }
}

/** The later one that has not expired. One that is not valid yet, by a wrong clock perhaps, replaces none that is. */
function choose(
  managed: StoredCredential | undefined,
  named: NamedPair | undefined,
  now: Date,
): StoredCredential | NamedPair | undefined {
  const isEarly = named && named.certificate.notBefore > now
  if (managed && isEarly && managed.certificate.notAfter > now) return managed
  return chooseNewer(managed, named, now)
}

function requireNode({certificate, file}: StoredCredential, isNamed: boolean): string {
  const nodeName = nodeOfUser(certificate.subject.commonName)
  if (nodeName !== undefined && (!isNamed || isOwnCertificate(certificate, nodeName)))
    return nodeName
  throw new TrustError(
    'CERTIFICATE_INVALID',
    `${file} does not contain the certificate of a node, but of "${certificate.subject.commonName}"`,
    {
      hints: [
        'find out where it came from, then move it away and join again',
        `if it is a credential for joining, use it so: "trustadm join --bootstrap-kubeconfig ${shellWord(file)}", after moving it out of the folder of the node`,
      ],
    },
  )
}

function requireSameNode(managed: StoredCredential, named: NamedPair): void {
  const [one, other] = [managed, named].map(({certificate}) => certificate.subject.commonName)
  if (one === other) return
  throw new TrustError(
    'CONFLICT',
    `${named.file} contains the certificate of "${other}", and ${managed.file} that of "${one}"`,
    {
      hints: [
        'find out which of them this machine is, and move the other file away',
        'nothing was changed',
      ],
    },
  )
}

/**
 * Puts the pair of the node where it is managed. The caller holds the lock of the folder. kubelet.conf is not changed: its key is stored
 * before anybody may replace the file.
 */
export async function takeOver(
  {dir, store}: Places,
  clock: Clock,
  tell: (line: string) => void,
  {keepsConf}: {keepsConf: boolean},
): Promise<void> {
  const held = await findHeldPair({dir, store}, clock.now())
  if (!held) return
  const {from, file, leftInside} = held
  if (from === 'unlinked') {
    await store.link(file)
    tell(`${store.current} was missing: it leads to ${file} again`)
  } else if (from !== 'link') {
    const stored = await store.update(held.certificatePem, held.keyPem, clock.now())
    tell(`the certificate in ${file} is this node's own, and was stored in ${stored}`)
  }
  if (!leftInside || keepsConf || !(await readKubeletConf(dir))?.hasKeyInside) return
  if (await store.holds(leftInside.certificate.fingerprint)) return
  const kept = await store.keep(leftInside.certificatePem, leftInside.keyPem, clock.now())
  tell(`the certificate in ${leftInside.file} is older than the one in use: it was kept in ${kept}`)
}
