/** Types of certificate signing requests; parse.ts tells how a table is read. */
export const CERTIFICATES = `
CertificateSigningRequest object | Certificate signing request.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:CertificateSigningRequestSpec! required | Spec.
  3 status:CertificateSigningRequestStatus! | Status.

CertificateSigningRequestSpec | Certificate signing request spec.
  1 request:bytes! required | Request.
  7 signerName:string! required | Signer name.
  8* expirationSeconds:int32 | Expiration seconds.
  5 usages:[]string(KeyUsage) | Usages.
  2 username:string | Username.
  3 uid:string | Uid.
  4 groups:[]string | Groups.
  6 extra:map<ExtraValue> | Extra.

CertificateSigningRequestStatus | Certificate signing request status.
  1 conditions:[]CertificateSigningRequestCondition keys(type) | Conditions.
  2 certificate:bytes | Certificate.

CertificateSigningRequestCondition | Certificate signing request condition.
  1 type:string(RequestConditionType)! required | Type.
  6 status:string(ConditionStatus)! required | Status.
  2 reason:string | Reason.
  3 message:string | Message.
  4 lastUpdateTime:Time! | Last update time.
  5 lastTransitionTime:Time! | Last transition time.
`

/** Types of certificate signing requests as they stood before v1; parse.ts tells how a table is read. */
export const CERTIFICATES_BETA = `
CertificateSigningRequest object | Certificate signing request.
  1 metadata:meta.ObjectMeta! | Metadata.
  2 spec:CertificateSigningRequestSpec! required | Spec.
  3 status:CertificateSigningRequestStatus! | Status.

CertificateSigningRequestSpec | Certificate signing request spec.
  1 request:bytes! required | Request.
  7* signerName:string | Signer name.
  8* expirationSeconds:int32 | Expiration seconds.
  5 usages:[]string(KeyUsage) | Usages.
  2 username:string | Username.
  3 uid:string | Uid.
  4 groups:[]string | Groups.
  6 extra:map<ExtraValue> | Extra.

CertificateSigningRequestStatus | Certificate signing request status.
  1 conditions:[]CertificateSigningRequestCondition keys(type) | Conditions.
  2 certificate:bytes | Certificate.

CertificateSigningRequestCondition | Certificate signing request condition.
  1 type:string(RequestConditionType)! required | Type.
  6 status:string(v1.ConditionStatus)! required | Status.
  2 reason:string | Reason.
  3 message:string | Message.
  4 lastUpdateTime:Time! | Last update time.
  5 lastTransitionTime:Time! | Last transition time.
`
