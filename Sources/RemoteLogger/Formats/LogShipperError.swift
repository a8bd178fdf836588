import Foundation
public import HTTPTransport

/// The reason why a shipper can't be created.
public struct LogShipperError: DescribedError, Sendable, Hashable {
    /// The problem and its fix, as a sentence without secrets.
    public let message: String

    /// The message.
    public var description: String { message }

    static func check(_ endpoint: URL) throws(LogShipperError) {
        let text = SecretMask.text(of: endpoint)
        guard let origin = Origin(endpoint), origin.scheme == "http" || origin.scheme == "https" else {
            throw LogShipperError(message: "\(text) can't take log records: give an absolute http or https URL.")
        }
        guard endpoint.user(percentEncoded: true) == nil, endpoint.password(percentEncoded: true) == nil else {
            throw LogShipperError(message: "\(text) contains a user name or password. Give credentials by `headers` or `authorize`.")
        }
    }

    static func check(destination: String) throws(LogShipperError) {
        guard (1...60).contains(destination.utf8.count) else {
            throw LogShipperError(message: "The spool's destination \"\(destination.prefix(60))\" must have from 1 to 60 bytes.")
        }
    }

    static func check(_ headers: HTTPFields) throws(LogShipperError) {
        for (index, field) in headers.enumerated() {
            // An invalid name may be a misplaced credential, so the error doesn't contain it.
            guard field.name.isValid else {
                throw LogShipperError(message: "The name of header field number \(index + 1) isn't a token, such as X-Team.")
            }
            guard isOfOneLine(field.value) else {
                throw LogShipperError(message: "The value of the header field \(field.name) contains a line break or NUL: remove it.")
            }
        }
    }

    static func isOfOneLine(_ value: String) -> Bool {
        !value.unicodeScalars.contains { $0 == "\r" || $0 == "\n" || $0 == "\0" }
    }
}
