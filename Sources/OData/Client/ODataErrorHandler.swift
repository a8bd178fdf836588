public import WebServiceClient

/// Makes ``ODataErrorBody`` the error body of every failure that has one.
///
/// What a proxy says in HTML, or anything else that is no OData error, is left to the check of the status.
struct ODataErrorHandler: ErrorHandler {
    func verdict(on outcome: CallOutcome) -> ErrorVerdict {
        guard case .response(let response) = outcome.result, !outcome.isSuccess else { return .default }
        // JSON is UTF-8 whatever charset is named (RFC 8259 §8.1); some services really use the one that they name.
        let named = { try? TextEncoding.utf8(from: response.body, contentType: response.headers[.contentType]) }
        guard let body = ODataErrorBody(response.body) ?? named().flatMap({ ODataErrorBody($0) }) else { return .default }
        return .fail(DecodedErrorBody(status: response.status, body: body))
    }
}

extension ServiceError.Kind {
    /// An OData query can't be said as a URL; the cause is ``ODataQueryError``.
    public static let query = Self(rawValue: "query")
    /// The service answered in a later version of OData than it was asked for.
    public static let version = Self(rawValue: "version")
    /// A link of the service isn't followed; the cause is ``ODataLinkError``.
    public static let link = Self(rawValue: "link")
}
