public import Foundation
public import WebServiceClient

/// A request that the expectations of this module can examine: one that a stub recorded, or one that a loopback server received.
public protocol ExaminableRequest: Sendable, CustomStringConvertible {
    /// The method.
    var examinedMethod: String { get }
    /// The URL as the receiver knows it: absolute in a stub, path and query on a server.
    var examinedURL: String { get }
    /// The fields.
    var examinedFields: HTTPFields { get }
    /// The body; `nil` or empty if there is none.
    var examinedBody: Data? { get }
}

extension RecordedRequest: ExaminableRequest {
    /// The method.
    public var examinedMethod: String { request.method.rawValue }
    /// The absolute URL.
    public var examinedURL: String { request.url.absoluteString }
    /// The fields of the request. The fields that a transport adds are missing, except for the media type of the body.
    public var examinedFields: HTTPFields {
        var fields = request.headers
        if let type = request.body?.contentType, !fields.contains(.contentType) { fields[.contentType] = type }
        return fields
    }
    /// The bytes of the body.
    public var examinedBody: Data? { body }
}

extension LoopbackRequest: ExaminableRequest {
    /// The method.
    public var examinedMethod: String { method }
    /// The request target.
    public var examinedURL: String { target }
    /// The fields as received.
    public var examinedFields: HTTPFields {
        HTTPFields(fields.map { HTTPFields.Field(name: HTTPFields.Name($0.name), value: $0.value) })
    }
    /// The bytes of the body, up to the server's limit.
    public var examinedBody: Data? { body }
}

/// Expectations for a request. Each throws a ``TestingFailure`` that shows the expected and the actual value, with secrets masked.
extension ExaminableRequest {
    /// Expects a method.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectMethod(_ method: ServiceRequest.Method) throws(TestingFailure) {
        guard examinedMethod != method.rawValue else { return }
        throw failure("the method \(method)", found: examinedMethod)
    }

    /// Expects the URL, compared character by character: absolute for a stub's request, path and query for a server's.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectURL(_ url: String) throws(TestingFailure) {
        guard examinedURL != url else { return }
        throw failure("the URL \(SecretMask.text(ofURL: url))", found: SecretMask.text(ofURL: examinedURL))
    }

    /// Expects the encoded path. The query is ignored.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectPath(_ path: String) throws(TestingFailure) {
        let found = String(decoding: examinedTarget.path, as: UTF8.self)
        guard found != path else { return }
        throw failure("the path \(path)", found: found)
    }

    /// Expects the percent-decoded values of a query item, in order. Pass no values for an item that must be missing.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectQuery(_ name: String, _ values: String?...) throws(TestingFailure) {
        let items = RequestTarget.pairs(of: examinedTarget.query ?? [], plusIsBlank: false).filter { $0.name == name }
        guard items.map(\.value) != values else { return }
        let hides = SecretMask.hidesParameter(named: name)
        let text = { (values: [String?]) in
            values.isEmpty ? "none" : values.map { hides ? SecretMask.mask : $0.map { "“\($0)”" } ?? "no value" }.joined(separator: ", ")
        }
        throw failure("the query item “\(name)” with \(text(values))", found: text(items.map(\.value)))
    }

    /// Expects a field with this value. Several values of one name are joined by `", "`.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectHeader(_ name: HTTPFields.Name, _ value: String) throws(TestingFailure) {
        let found = examinedFields[name]
        guard found != value else { return }
        let text = { (value: String) in SecretMask.recordedText(of: HTTPFields.Field(name: name, value: value)) }
        let names = examinedFields.map(\.name.rawName).joined(separator: ", ")
        throw failure("\(name): \(text(value))", found: found.map { "\(name): \(text($0))" } ?? "no such field among: \(names)")
    }

    /// Expects a field with any value.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectHeader(_ name: HTTPFields.Name) throws(TestingFailure) {
        guard !examinedFields.contains(name) else { return }
        throw failure("a field \(name)", found: examinedFields.map(\.name.rawName).joined(separator: ", "))
    }

    /// Expects no field of this name.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectNoHeader(_ name: HTTPFields.Name) throws(TestingFailure) {
        guard let found = examinedFields[name] else { return }
        throw failure("no field \(name)", found: "\(name): \(SecretMask.recordedText(of: HTTPFields.Field(name: name, value: found)))")
    }

    /// Expects these bytes as the body.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectBody(_ body: Data) throws(TestingFailure) {
        let found = examinedBody ?? Data()
        guard found != body else { return }
        let place = zip(found, body).enumerated().first { $1.0 != $1.1 }?.offset ?? min(found.count, body.count)
        throw failure("a body of \(body.count) bytes", found: "\(found.count) bytes, different from byte \(place) on")
    }

    /// Expects this text in UTF-8 as the body.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectBody(_ text: String) throws(TestingFailure) {
        let found = String(decoding: examinedBody ?? Data(), as: UTF8.self)
        guard found != text else { return }
        throw failure("the body “\(BodyMask.excerpt(text))”", found: "“\(BodyMask.excerpt(found))”")
    }

    /// Expects JSON equal to this text, regardless of whitespace and the order of members.
    ///
    /// - Throws: ``TestingFailure`` that names the place of the first difference.
    public func expectBody(json text: String) throws(TestingFailure) {
        let expected: JSONTree
        do {
            expected = try JSONTree(parsing: Data(text.utf8))
        } catch {
            throw TestingFailure("The expected text isn't JSON: \(text)")
        }
        let found: JSONTree
        do {
            found = try JSONTree(parsing: examinedBody ?? Data())
        } catch {
            throw failure("JSON", found: "“\(BodyMask.excerpt(String(decoding: examinedBody ?? Data(), as: UTF8.self)))”")
        }
        guard let difference = found.difference(from: expected) else { return }
        throw failure("\(difference.expected) at \(difference.place)", found: difference.found)
    }

    private var examinedTarget: RequestTarget { RequestTarget(Array(examinedURL.utf8)) }

    private func failure(_ expected: String, found: String) -> TestingFailure {
        TestingFailure("\(self): expected \(expected), found \(found)")
    }
}

extension StubTransport {
    /// Expects that an endpoint was called this number of times.
    ///
    /// - Throws: ``TestingFailure`` that lists the calls that were made.
    public func expect(_ key: String, calledTimes count: Int) throws(TestingFailure) {
        let found = callCount(for: key)
        guard found != count else { return }
        let all = requests.map { "\n  \($0.key): \($0)" }.joined()
        throw TestingFailure("Expected “\(key)” to be called \(count) times, found \(found); calls so far:\(all.isEmpty ? " none" : all)")
    }

    /// Expects the keys of all calls, in this order.
    ///
    /// - Throws: ``TestingFailure``.
    public func expectCalls(_ keys: String...) throws(TestingFailure) {
        let found = requests.map(\.key)
        guard found != keys else { return }
        throw TestingFailure("Expected the calls \(keys.joined(separator: ", ")), found \(found.joined(separator: ", "))")
    }
}
