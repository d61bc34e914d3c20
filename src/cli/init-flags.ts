import {resolve} from 'node:path'
import * as Flags from '@oclif/core/flags'
import {KEY_ALGORITHMS} from '../pki/keys.ts'
import {
  address,
  cidrs,
  domains,
  endpoint,
  hosts,
  nodeName,
  portText,
} from '../control-plane/config/fields.ts'
import type {Choices} from '../control-plane/config/settings.ts'
import {serverChoices, serverFlags, type ServerFlagValues} from './server-flags.ts'
import {servingFlags, type ServingFlagValues} from './controller-flags.ts'
import {signingFlags, type SigningFlagValues} from './signing-flags.ts'
import {flagReader, given} from './flag-value.ts'
import {dir} from './flags.ts'

/** kubeadm's flags of `init`, and ours; `init phase` has the same, for every phase depends on them. */
export const initFlags = {
  dir,
  config: Flags.string({
    helpValue: '<file>',
    summary: 'a file with kubeadm.k8s.io/v1beta4 documents, or with ours; flags win over it',
  }),
  'apiserver-advertise-address': Flags.string({
    helpValue: '<address>',
    summary: 'the IP address that clients use [default: the first of this machine]',
  }),
  'apiserver-bind-port': Flags.string({
    helpValue: '<port>',
    summary: 'the port to listen on; 0 picks a free one, once [default: 6443]',
  }),
  'apiserver-cert-extra-sans': Flags.string({
    helpValue: '<names>',
    multiple: true,
    multipleNonGreedy: true,
    delimiter: ',',
    summary:
      'additional DNS names and IP addresses for the serving certificate, separated by commas; may be repeated',
  }),
  ...serverFlags,
  'bind-address': Flags.string({
    helpValue: '<address>',
    summary: 'the IP address to listen on [default: all of this machine]',
  }),
  'cert-dir': Flags.string({
    helpValue: '<folder>',
    summary: 'the folder of certificates and keys [default: pki in --dir]',
  }),
  'control-plane-endpoint': Flags.string({
    helpValue: '<host[:port]>',
    summary: 'a stable address of the control plane for clients',
  }),
  'key-algorithm': Flags.option({
    options: KEY_ALGORITHMS,
    summary: 'the type of new keys [default: ECDSA-P256]',
  })(),
  'node-name': Flags.string({
    helpValue: '<name>',
    summary: 'the name of this machine [default: its host name]',
  }),
  replace: Flags.boolean({
    summary:
      'replace your own certificates if they do not work; the old ones are moved to the folder "backups" of --dir',
  }),
  ...servingFlags,
  ...signingFlags,
}

export interface InitFlagValues extends ServingFlagValues, ServerFlagValues, SigningFlagValues {
  'apiserver-advertise-address'?: string | undefined
  'apiserver-bind-port'?: string | undefined
  'apiserver-cert-extra-sans'?: string[] | undefined
  'bind-address'?: string | undefined
  'cert-dir'?: string | undefined
  'control-plane-endpoint'?: string | undefined
  'key-algorithm'?: (typeof KEY_ALGORITHMS)[number] | undefined
  'node-name'?: string | undefined
}

/** Only what was given on the command line. */
export function choicesOf(flags: InitFlagValues): Choices {
  const said = flagReader(flags)
  const choices = {
    advertiseAddress: said('apiserver-advertise-address', address),
    bindPort: said('apiserver-bind-port', portText),
    certSANs: said('apiserver-cert-extra-sans', hosts),
    bindAddress: said('bind-address', address),
    certificatesDir: said('cert-dir', (folder) => resolve(folder as string)),
    controlPlaneEndpoint: said('control-plane-endpoint', endpoint),
    keyAlgorithm: flags['key-algorithm'],
    nodeName: said('node-name', nodeName),
    servingCIDRs: said('serving-cidr', cidrs),
    servingDomains: said('serving-domain', domains),
  }
  return {...serverChoices(flags), ...given(choices)}
}
