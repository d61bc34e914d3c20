import {systemCode, TrustError} from '../../errors.ts'

/** Why the server cannot listen, and what to do about it. */
export function listenError(error: Error, host: string, port: number): TrustError {
  const where = `${host}:${port}`
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return new TrustError('PORT_IN_USE', `something already listens on ${where}`, {
        cause: error,
        hints: ['choose another port with --apiserver-bind-port, or 0 to let the system pick one'],
      })
    case 'EACCES':
      return new TrustError('SERVER_NOT_STARTED', `not allowed to listen on ${where}`, {
        cause: error,
        hints: ['ports below 1024 need privileges; choose another with --apiserver-bind-port'],
      })
    case 'EADDRNOTAVAIL':
      return new TrustError('SERVER_NOT_STARTED', `${host} is not an address of this machine`, {
        cause: error,
        hints: ['choose one of this machine with --bind-address, or 0.0.0.0 for all'],
      })
    default:
      return new TrustError('SERVER_NOT_STARTED', `cannot listen on ${where}: ${error.message}`, {
        cause: error,
      })
  }
}
