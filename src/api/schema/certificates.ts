/** Types of certificate signing requests; parse.ts describes the format. */
export const CERTIFICATES = `
CertificateSigningRequest object | A request for a certificate, its approval, and the certificate.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CertificateSigningRequestSpec! required | What is wanted.
  3 status:CertificateSigningRequestStatus! | What is observed.

CertificateSigningRequestSpec | What is requested, and who requests it; it never changes.
  1 request:bytes! required | The PKCS#10 request in PEM, in base64.
  7 signerName:string! required | Who should sign, such as kubernetes.io/kubelet-serving.
  8* expirationSeconds:int32 | How long the certificate should be valid; signers may shorten it.
  5 usages:[]string(KeyUsage) | What the certificate's key may be used for.
  2 username:string | Who made the request; set by the server.
  3 uid:string | The id of who made the request; set by the server.
  4 groups:[]string | The groups of who made the request; set by the server.
  6 extra:map<ExtraValue> | What else is known of who made the request; set by the server.

CertificateSigningRequestStatus | What became of the request.
  1 conditions:[]CertificateSigningRequestCondition keys(type) | Verdicts on the request.
  2 certificate:bytes | The certificates in PEM, in base64.

CertificateSigningRequestCondition | A verdict on the request.
  1 type:string(RequestConditionType)! required | Approved, Denied or Failed.
  6 status:string(ConditionStatus)! required | True for Approved and Denied.
  2 reason:string | One word for why.
  3 message:string | A sentence that says more.
  4 lastUpdateTime:Time! | When this was last written.
  5 lastTransitionTime:Time! | When the status last changed.
`

/** Types of certificate signing requests before v1; parse.ts describes the format. */
export const CERTIFICATES_BETA = `
CertificateSigningRequest object | A request for a certificate, its approval, and the certificate.
  1 metadata:meta.ObjectMeta! | Name, labels and other metadata.
  2 spec:CertificateSigningRequestSpec! required | What is wanted.
  3 status:CertificateSigningRequestStatus! | What is observed.

CertificateSigningRequestSpec | What is requested, and who requests it; it never changes.
  1 request:bytes! required | The PKCS#10 request in PEM, in base64.
  7* signerName:string | Who should sign, such as kubernetes.io/kubelet-serving.
  8* expirationSeconds:int32 | How long the certificate should be valid; signers may shorten it.
  5 usages:[]string(KeyUsage) | What the certificate's key may be used for.
  2 username:string | Who made the request; set by the server.
  3 uid:string | The id of who made the request; set by the server.
  4 groups:[]string | The groups of who made the request; set by the server.
  6 extra:map<ExtraValue> | What else is known of who made the request; set by the server.

CertificateSigningRequestStatus | What became of the request.
  1 conditions:[]CertificateSigningRequestCondition keys(type) | Verdicts on the request.
  2 certificate:bytes | The certificates in PEM, in base64.

CertificateSigningRequestCondition | A verdict on the request.
  1 type:string(RequestConditionType)! required | Approved, Denied or Failed.
  6 status:string(v1.ConditionStatus)! required | True for Approved and Denied.
  2 reason:string | One word for why.
  3 message:string | A sentence that says more.
  4 lastUpdateTime:Time! | When this was last written.
  5 lastTransitionTime:Time! | When the status last changed.
`
