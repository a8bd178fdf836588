/// What a request has beside its method, URL and body, and what most requests of an endpoint have in common: held by reference, so that
/// a request, which each stage of the chain copies, is a handful of words.
struct RequestDetails: Sendable {
    var timeouts = ServiceTimeouts()
    var trust: TrustPolicy?
    var uploadProgress: (@Sendable (TransferProgress) -> Void)?
    var downloadProgress: (@Sendable (TransferProgress) -> Void)?
    var identity: CallIdentity?
    var secrets: RequestSecrets?

    /// Details that nobody changes: a change makes others.
    final class Shared: Sendable {
        static let standard = Shared(RequestDetails())

        let details: RequestDetails
        /// The fields that others with these details have, and the request most likely, too; `nil` where nothing is known of others.
        let commonFields: CommonFields?

        init(_ details: RequestDetails, commonFields: CommonFields? = nil) {
            self.details = details
            self.commonFields = commonFields
        }
    }
}
