import {TrustCommand} from '../../cli/command.ts'
import {output} from '../../cli/flags.ts'

export default class CertificateKey extends TrustCommand {
  static override summary = 'print a new random certificate key'
  static override description =
    'Prints a key with which "init --upload-certs --certificate-key" encrypts the CAs for the next machine of the control plane, and "join --control-plane --certificate-key" decrypts them, without contacting a server. "kubeadm" takes it too. Keep it secret: with it and a token, anyone gets the keys of the CAs while they are uploaded.'
  static override examples = ['<%= config.bin %> <%= command.id %>']
  static override flags = {output}

  async run(): Promise<void> {
    const {flags} = await this.parse(CertificateKey)
    const {formatCertificateKey, generateCertificateKey} =
      await import('../../bootstrap/certificate-key.ts')
    const certificateKey = formatCertificateKey(generateCertificateKey())
    await this.print({certificateKey}, flags.output, {
      table: () => `${certificateKey}\n`,
      name: () => [certificateKey],
    })
  }
}
