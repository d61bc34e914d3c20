import type {ReservedBySettings, ServingPolicy} from '../controllers/approval/belief.ts'
import {subnetsOf} from '../controllers/approval/api-server.ts'
import {parseCidr} from '../pki/address-range.ts'
import {hostOf} from '../pki/catalog.ts'
import type {Settings} from './config/settings.ts'

/** The flags of a command; for the others the configuration applies. */
export interface ServingChoices {
  deny?: boolean
  cidrs?: readonly string[] | undefined
  domains?: readonly string[] | undefined
}

type Configured = Pick<Settings, 'servingCIDRs' | 'servingDomains'>

const NOTHING: Configured = {servingCIDRs: [], servingDomains: []}

export function servingPolicy(
  {deny = false, cidrs, domains}: ServingChoices = {},
  {servingCIDRs, servingDomains}: Configured = NOTHING,
): ServingPolicy {
  const blocks = (cidrs ?? servingCIDRs).map(parseCidr).filter((block) => block !== undefined)
  return {deny, cidrs: blocks, domains: domains ?? servingDomains}
}

/** The same as `init` writes into kubeadm-config, which others may change. */
export const reservedBySettings = ({
  certSANs,
  controlPlaneEndpoint: endpoint,
  serviceSubnet,
}: Pick<Settings, 'certSANs' | 'controlPlaneEndpoint' | 'serviceSubnet'>): ReservedBySettings => ({
  names: [...certSANs, ...(endpoint === undefined ? [] : [hostOf(endpoint)])],
  subnets: subnetsOf(serviceSubnet),
})
