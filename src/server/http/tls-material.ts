export interface TlsMaterial {
  /** The serving certificate with its intermediates, PEM. */
  certificate: string
  key: string
  /** The authorities named to callers when a certificate is asked of them. */
  clientAuthorities: string
}

/** The options of a TLS server that may be changed while it runs. */
export const contextOf = ({certificate, key, clientAuthorities}: TlsMaterial) => ({
  cert: certificate,
  key,
  ca: clientAuthorities,
  minVersion: 'TLSv1.2' as const,
})
