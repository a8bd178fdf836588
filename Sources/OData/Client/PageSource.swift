import WebServiceClient

/// The answer that a page comes in, and what makes errors of whatever goes wrong with it.
struct PageSource: Sendable {
    let response: ServiceResponse<ResponseBody>
    let errors: StreamErrors
    let decoder: ODataDecoder
    /// Looks at what came behind the page.
    let checkEnd: @Sendable () throws -> Void

    /// Whether something is wrong with the text itself.
    static func isSyntaxError(_ error: any Error) -> Bool {
        guard case .dataCorrupted(let context) = error as? DecodingError else { return false }
        return context.underlyingError is JSONSyntaxError
    }
}
