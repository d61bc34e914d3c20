const bytes = (...hex: string[]): Buffer => Buffer.from(hex.join(''), 'hex')

/** Whole bodies that clients of v1.36.4 were seen to send. */
export const CAPTURED = {
  /** `kubectl create configmap x --from-literal=a=b` */
  configMap: bytes(
    '6b3873000a0f0a0276311209436f6e6669674d6170121b0a110a017812001a0022002a00',
    '32003800420012060a01611201621a002200',
  ),
  /** `kubectl create secret generic s --from-literal=a=b` */
  secret: bytes(
    '6b3873000a0c0a0276311206536563726574121d0a110a017312001a0022002a00320038',
    '00420012060a01611201621a001a002200',
  ),
  /** `kubectl auth whoami` */
  selfSubjectReview: bytes(
    '6b3873000a2d0a1861757468656e7469636174696f6e2e6b38732e696f2f763112115365',
    '6c665375626a656374526576696577121a0a100a0012001a0022002a0032003800420012',
    '060a040a0012001a002200',
  ),
  /** `kubectl create token sa1` */
  tokenRequest: bytes(
    '6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f',
    '6b656e52657175657374121a0a100a0012001a0022002a0032003800420012001a040a00',
    '12001a002200',
  ),
  /** `kubectl create token sa1 --duration=10m --audience=foo` */
  shortTokenRequest: bytes(
    '6b3873000a280a1861757468656e7469636174696f6e2e6b38732e696f2f7631120c546f',
    '6b656e5265717565737412220a100a0012001a0022002a0032003800420012080a03666f',
    '6f20d8041a040a0012001a002200',
  ),
  /** `kubeadm token delete abcdef` */
  deleteOptions: bytes('6b3873000a130a027631120d44656c6574654f7074696f6e7312001a002200'),
}
