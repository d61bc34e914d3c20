import * as Flags from '@oclif/core/flags'

/** kubeadm's flags of `init` for a control plane on several machines. */
export const uploadFlags = {
  'upload-certs': Flags.boolean({
    summary:
      'upload the CAs and their keys, encrypted, for "join --control-plane" on another machine; they are deleted after two hours',
  }),
  'certificate-key': Flags.string({
    helpValue: '<key>',
    summary:
      'the key to encrypt them with, as "certificate certificate-key" prints it; - reads stdin [default: a new one]',
  }),
  'skip-certificate-key-print': Flags.boolean({
    summary: 'do not print that key',
  }),
}

export interface UploadFlagValues {
  'upload-certs'?: boolean | undefined
  'certificate-key'?: string | undefined
  'skip-certificate-key-print'?: boolean | undefined
}

/** The key of the command line, or of the standard input. */
export async function readCertificateKey(given: string | undefined): Promise<Buffer | undefined> {
  if (given === undefined) return undefined
  const {parseCertificateKey} = await import('../bootstrap/certificate-key.ts')
  if (given !== '-') return parseCertificateKey(given)
  const {readSecretFile} = await import('./secret-file.ts')
  return parseCertificateKey(await readSecretFile('-'))
}
