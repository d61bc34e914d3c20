import {isDeepStrictEqual} from 'node:util'
import type {TrustedClusterInfo} from '../discovery/cluster-info.ts'
import {lookAt} from '../fs/file-checks.ts'
import {readFileIfThere, readFileSafely, writeFilesSafely, type NewFile} from '../fs/files.ts'
import {encodeBundle, isSameBundle, parseBundle, uniqueCertificates} from '../pki/bundle.ts'
import {kubeletAuthorities} from './cluster-info-store.ts'
import {CredentialStore} from './credential-store.ts'
import {changeKubeletConf} from './kubelet-conf.ts'
import {nodeFile} from './node-files.ts'

/*
 * The folder of a kubelet that joined without trustadm, such as /etc/kubernetes. kubelet.conf says which cluster it trusts. Only the CAs in
 * it and in pki/ca.crt follow the cluster, and nothing is recorded as trustadm's own.
 */

interface Folder {
  dir: string
  info: TrustedClusterInfo
}

/** The address stays: kubeadm lets a kubelet use another one than cluster-info names. */
export const withTrustOf = (
  own: TrustedClusterInfo,
  {ca, issuers, pins}: TrustedClusterInfo,
): TrustedClusterInfo => {
  const {ca: _ca, issuers: _issuers, ...rest} = own
  return {...rest, pins, ...(ca !== undefined && {ca}), ...(issuers !== undefined && {issuers})}
}

export const isTrustChanged = (before: TrustedClusterInfo, after: TrustedClusterInfo): boolean =>
  !isDeepStrictEqual(before.issuers, after.issuers) ||
  (before.ca !== after.ca &&
    (before.ca === undefined || after.ca === undefined || !isSameBundle(before.ca, after.ca)))

/**
 * Lets the folder trust what the cluster says now. kubelet.conf comes last: until it has changed, a run after an interruption finds the
 * same difference again.
 */
export async function changeTrust(
  folder: Folder,
  info: TrustedClusterInfo,
  server?: string,
): Promise<string[]> {
  const {dir} = folder
  const conf = nodeFile(dir, 'kubeconfig')
  const text = (await readFileSafely(conf, {secret: true})).toString()
  const changed = changeKubeletConf(text, conf, {trust: info, ...(server && {server})})
  const files: NewFile[] = [
    ...(await changedAuthorities(folder, info)),
    ...(changed === text ? [] : [{path: conf, data: changed, mode: 0o600}]),
  ]
  await writeFilesSafely(files)
  return files.map(({path}) => path)
}

/**
 * pki/ca.crt, by which the kubelet knows its callers. CAs of others in it stay. On a machine of the control plane it belongs to that: more
 * than one CA in it would end the signing of certificates.
 */
async function changedAuthorities(
  {dir, info: before}: Folder,
  after: TrustedClusterInfo,
): Promise<NewFile[]> {
  const path = nodeFile(dir, 'ca')
  const wanted = kubeletAuthorities(after)
  const present = (await readFileIfThere(path))?.toString()
  if (wanted === undefined || (await lookAt(nodeFile(dir, 'caKey')))) return []
  const known = new Set(fingerprints(kubeletAuthorities(before)))
  const others = (present === undefined ? [] : parseBundle(present)).filter(
    ({fingerprint}) => !known.has(fingerprint),
  )
  const data = encodeBundle(uniqueCertificates([...parseBundle(wanted), ...others]))
  return present !== undefined && isSameBundle(present, data) ? [] : [{path, data, mode: 0o644}]
}

/** Writes a ca.crt that is missing, as after a join that failed: no kubelet starts without it. Returns the file if it was written. */
export async function restoreAuthorities(folder: Folder): Promise<string[]> {
  if (await lookAt(nodeFile(folder.dir, 'ca'))) return []
  const files = await changedAuthorities(folder, folder.info)
  await writeFilesSafely(files)
  return files.map(({path}) => path)
}

const fingerprints = (pem: string | undefined): string[] =>
  pem === undefined ? [] : parseBundle(pem).map(({fingerprint}) => fingerprint)

/** Lets kubelet.conf refer to the managed pair, as kubeadm does. Returns the file if it has changed. */
export async function useLink({dir, certDir}: {dir: string; certDir: string}): Promise<string[]> {
  const path = nodeFile(dir, 'kubeconfig')
  const text = (await readFileSafely(path, {secret: true})).toString()
  const data = changeKubeletConf(text, path, {link: new CredentialStore(certDir).current})
  if (data === text) return []
  await writeFilesSafely([{path, data, mode: 0o600}])
  return [path]
}
