import Foundation
public import WebServiceClient

/// Why a shipper can't be made.
public struct LogShipperError: DescribedError, Sendable, Hashable {
    /// What is wrong and what to do, as a sentence without secrets.
    public let message: String

    /// The message.
    public var description: String { message }

    static func check(_ endpoint: URL) throws(LogShipperError) {
        let text = SecretMask.text(of: endpoint)
        guard let origin = Origin(endpoint), origin.scheme == "http" || origin.scheme == "https" else {
            throw LogShipperError(message: "\(text) can't take log records: give an absolute http or https URL.")
        }
        guard endpoint.user(percentEncoded: true) == nil, endpoint.password(percentEncoded: true) == nil else {
            throw LogShipperError(message: "\(text) has a user name or password in it: give credentials by `headers` or `authorize`.")
        }
    }

    static func check(destination: String) throws(LogShipperError) {
        guard (1...60).contains(destination.utf8.count) else {
            throw LogShipperError(message: "The spool's destination \"\(destination.prefix(60))\" must have from 1 to 60 bytes.")
        }
    }

    static func check(_ headers: HTTPFields) throws(LogShipperError) {
        for (index, field) in headers.enumerated() {
            // What isn't a name may be a credential in its place.
            guard field.name.isValid else {
                throw LogShipperError(message: "The name of header field number \(index + 1) is no token, such as X-Team.")
            }
            guard isOfOneLine(field.value) else {
                throw LogShipperError(message: "The value of the header field \(field.name) has a line break or NUL in it: remove it.")
            }
        }
    }

    static func isOfOneLine(_ value: String) -> Bool {
        !value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }
    }
}
