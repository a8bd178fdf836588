import Foundation
import WebServiceClient

// The version that a service answers in (Protocol 4.01, section 8.1.5).
extension ODataClient {
    /// An answer in a version that this library doesn't know may say what it can't read, or say it otherwise. Those that it knows are told by their
    /// shape, whichever was asked for.
    ///
    /// - Throws: `ServiceError` of the kind ``/WebServiceClient/ServiceError/Kind/version``. A head that says nothing, or no version, is none.
    func check(versionOf headers: HTTPFields, _ operation: ODataOperation, response: @autoclosure () -> ResponseSummary) throws {
        guard let text = headers["OData-Version"] ?? headers["DataServiceVersion"], let version = ProtocolVersion(text),
            version > .latestKnown
        else { return }
        throw error(
            operation, .status, .version,
            "The service answered in version \(text.prefix(20)) of OData, and 4.01 is the latest that this library reads; it was asked for "
                + "\(printer.version.rawValue) at most.", response: response())
    }
}
