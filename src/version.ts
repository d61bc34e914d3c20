/** trustadm's own version; the build checks that package.json says the same. */
export const VERSION = '0.1.0'

/** The Kubernetes release whose wire behaviour the server keeps to. */
export const KUBERNETES_VERSION = 'v1.36.4'
