import {resolve} from 'node:path'
import * as Flags from '@oclif/core/flags'
import type {SigningSettings} from '../control-plane/signing.ts'
import type {WellKnownSigner} from '../csr/signers.ts'
import type {AuthorityFiles} from '../pki/authority.ts'

const HELP_GROUP = 'SIGNING'

const certFile = (what: string) =>
  Flags.string({helpGroup: HELP_GROUP, helpValue: '<file>', summary: `the certificate of ${what}`})
const keyFile = (what: string) =>
  Flags.string({helpGroup: HELP_GROUP, helpValue: '<file>', summary: `the key of ${what}`})

const ALL = 'the CA that signs requests'
const CLIENT = 'the CA of the signer kube-apiserver-client'
const KUBELET_CLIENT = 'the CA of the signer kube-apiserver-client-kubelet'
const KUBELET_SERVING = 'the CA of the signer kubelet-serving'
const LEGACY = 'the CA of the signer legacy-unknown'

/** kube-controller-manager's flags, under its names. */
export const signingFlags = {
  'cluster-signing-cert-file': certFile(ALL),
  'cluster-signing-key-file': keyFile(ALL),
  'cluster-signing-kube-apiserver-client-cert-file': certFile(CLIENT),
  'cluster-signing-kube-apiserver-client-key-file': keyFile(CLIENT),
  'cluster-signing-kubelet-client-cert-file': certFile(KUBELET_CLIENT),
  'cluster-signing-kubelet-client-key-file': keyFile(KUBELET_CLIENT),
  'cluster-signing-kubelet-serving-cert-file': certFile(KUBELET_SERVING),
  'cluster-signing-kubelet-serving-key-file': keyFile(KUBELET_SERVING),
  'cluster-signing-legacy-unknown-cert-file': certFile(LEGACY),
  'cluster-signing-legacy-unknown-key-file': keyFile(LEGACY),
  'cluster-signing-duration': Flags.string({
    helpGroup: HELP_GROUP,
    helpValue: '<duration>',
    summary:
      'maximum lifetime of certificates signed on request, and the lifetime for requests that do not name one [default: 8760h]',
  }),
}

export type SigningFlagValues = {[Name in keyof typeof signingFlags]?: string | undefined}

const SIGNERS = {
  'kube-apiserver-client': 'kubernetes.io/kube-apiserver-client',
  'kubelet-client': 'kubernetes.io/kube-apiserver-client-kubelet',
  'kubelet-serving': 'kubernetes.io/kubelet-serving',
  'legacy-unknown': 'kubernetes.io/legacy-unknown',
} as const satisfies Record<string, WellKnownSigner>

/** Reads the flags. Half a pair is refused: otherwise another CA would sign than the one that was meant. */
export async function readSigningFlags(flags: SigningFlagValues): Promise<SigningSettings> {
  const {TrustError} = await import('../errors.ts')
  const {duration: readDuration} = await import('../control-plane/config/fields.ts')
  const {readFlag} = await import('./flag-value.ts')

  const pairOf = (
    certName: keyof SigningFlagValues,
    keyName: keyof SigningFlagValues,
  ): AuthorityFiles | undefined => {
    const [certificate, key] = [flags[certName], flags[keyName]]
    // The configuration keeps them: they must not depend on the current folder.
    if (certificate !== undefined && key !== undefined) {
      return {certificate: resolve(certificate), key: resolve(key)}
    }
    if (certificate === undefined && key === undefined) return undefined
    const [there, missing] = key === undefined ? [certName, keyName] : [keyName, certName]
    throw new TrustError('USAGE', `--${there} needs --${missing} too`)
  }
  const filesOf: SigningSettings['filesOf'] = {}
  for (const [flag, signer] of Object.entries(SIGNERS)) {
    const name = flag as keyof typeof SIGNERS
    const pair = pairOf(`cluster-signing-${name}-cert-file`, `cluster-signing-${name}-key-file`)
    if (pair) filesOf[signer] = pair
  }
  const period = flags['cluster-signing-duration']
  return {
    files: pairOf('cluster-signing-cert-file', 'cluster-signing-key-file'),
    filesOf,
    ...(period !== undefined && {
      duration: readFlag('cluster-signing-duration', period, readDuration),
    }),
  }
}
