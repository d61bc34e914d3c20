/** Why a body was not understood. The message is Kubernetes' own. */
export class DecodeError extends Error {
  override name = 'DecodeError'
  readonly kind: 'badRequest' | 'unsupportedMediaType'

  constructor(kind: DecodeError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/** A body, or a value in it, that cannot be read; the message is the inner part of Kubernetes' message. */
export class MalformedError extends Error {
  override name = 'MalformedError'
}
