import {bootstrapperGroups, bootstrapperUser} from '../../csr/bootstrapper.ts'
import {BOOTSTRAP_SIGNER} from '../../pki/catalog.ts'
import {parseCertificate} from '../../pki/certificate.ts'
import {createAuthorityCertificate} from '../../pki/create.ts'
import {createIssuer, issueLeaf} from '../../pki/issuer.ts'
import {generateKeys, privateKeyPem} from '../../pki/keys.ts'
import {authorityValidity, validityFor} from '../../pki/lifetimes.ts'
import {NO_NAMES} from '../../pki/subject-names.ts'
import type {Clock} from '../../runtime.ts'

const DAY = 86_400_000
/** Ten years. */
const CREDENTIAL_LIFETIME = 3650 * DAY

/** All as PEM. */
export interface BootstrapCertificate {
  authority: string
  certificate: string
  key: string
}

/**
 * A certificate for the node bootstrapper of a namespace, with a CA of its own: each credential can be revoked alone. The CA's key signs this one certificate
 * and is not kept, so nobody can make a second one.
 */
export async function createBootstrapCertificate(
  namespace: string,
  clock: Clock,
  lifetime: number = CREDENTIAL_LIFETIME,
): Promise<BootstrapCertificate> {
  const now = clock.now()
  const signer = await generateKeys()
  const {commonName, usages} = BOOTSTRAP_SIGNER
  const authority = await createAuthorityCertificate(
    {commonName},
    signer,
    authorityValidity(now, lifetime + DAY),
  )
  const issuer = createIssuer(parseCertificate(authority), signer.privateKey)
  const keys = await generateKeys()
  const certificate = await issueLeaf(issuer, {
    subject: {
      commonName: bootstrapperUser(namespace),
      organizations: bootstrapperGroups(namespace),
    },
    names: NO_NAMES,
    publicKey: keys.publicKey,
    usages,
    validity: validityFor(now, lifetime, issuer.certificate.notAfter),
    // In OpenShift's namespace it has 73 characters.
    allowsLongName: true,
  })
  return {authority, certificate, key: privateKeyPem(keys.privateKey)}
}
