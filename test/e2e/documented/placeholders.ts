import type {Stage} from './stage.ts'

/** What the documentation writes for something that every reader has to fill in, and what a test fills in. */
export const placeholders = (stage: Stage): ReadonlyMap<string, () => string> => {
  const value = (name: string) => () => {
    const found = stage.values.get(name)
    if (found === undefined) throw new Error(`nothing is known to stand for ${name}`)
    return found
  }
  return new Map([
    ['10.0.0.1:6443', value('endpoint')],
    ['--token …', () => `--token ${value('token')()}`],
    ['sha256:…', value('pin')],
    ['--discovery-token-ca-cert-hash …', () => `--discovery-token-ca-cert-hash ${value('pin')()}`],
    ['--certificate-key …', () => `--certificate-key ${value('certificate key')()}`],
    ['--kubeconfig FILE', () => `--kubeconfig ${stage.file('plane/admin.conf')}`],
    ['/etc/kubernetes/pki', () => stage.file('kubeadm/kubernetes/pki')],
    ['sha256:5f2c9a…', value('waiting pin')],
    ['--head 5f2c9a…', () => `--head ${value('head')()}`],
    ['3f9a2c81d0b4', value('credential')],
    ['<id>', () => value('token')().slice(0, 6)],
    ['<folder of the node>', () => stage.nodeDir({host: 'node-7'})],
    ['/etc/prometheus/trustadm', () => stage.file('prometheus')],
    ['/etc/trustadm/', () => `${stage.folder}/`],
    // A port that the system picks.
    ['--metrics-address 9153', () => '--metrics-address 0'],
  ])
}
