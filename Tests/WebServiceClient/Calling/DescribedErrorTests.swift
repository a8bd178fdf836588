import Foundation
import TestSupport
import Testing
import WebServiceTesting

@testable import WebServiceClient

@Suite struct DescribedErrorTests {
    private static let call = CallIdentity(client: "Shop", key: "product(id:)", route: "/products/%%0%%")

    private static var errors: [any Error & CustomStringConvertible] {
        [
            ServiceError(call: call, stage: .status, kind: .status, message: "The status 404 isn't one of 200."),
            TransportError(.hostNotFound, "shop.test has no address."),
            SerializationError(.format, "HTML where JSON is needed."),
            ArgumentError(argument: "argument 0", place: "the path", reason: "it is nil."),
            TableFaults(client: "Shop", faults: [TableFault(kind: .badMethod, key: "a()", problem: "no method", fix: "write GET")]),
            AuthenticationError(.unusablePassword, message: "The password has a colon."),
            RedirectError(reason: .loop, message: "The redirects run in a circle."),
            InvalidRequest(message: "No method."),
            RequestBodyError(message: "The file is gone."),
            BodyEncodingError(argument: "argument 0", cause: RequestBodyError(message: "gone")),
            DryRunError(), CSVProblem.error, MethodNameProblem.error,
            PagingError.notPaged, DecodedErrorBody(status: 422, body: ["message": "Name is taken"]),
            ServiceProfileError(faults: ["resource 0"]), RemoteProfileError(.expired, "Version 1 has expired."),
            CurlError(code: 7, text: "no"),
            QueueError.full(3), QueueError.waitedTooLong(.seconds(3), .paused),
            RateLimitError.service(nil, wait: .seconds(90), longest: .seconds(60)),
        ]
    }

    private enum CSVProblem {
        static var error: any Error & CustomStringConvertible { JSONSyntaxError(size: "The text", limit: 5, offset: 6) }
    }

    private enum MethodNameProblem {
        static var error: any Error & CustomStringConvertible { MethodNameError(text: "a(", problem: "is none", suggestion: nil) }
    }

    @Test func `The good text is in every place that people look at`() throws {
        for error in Self.errors {
            let plain: any Error = error
            #expect(plain.localizedDescription == error.description, "\(type(of: error))")
            #expect((plain as NSError).localizedDescription == error.description, "\(type(of: error))")
            #expect(!error.description.isEmpty && !plain.localizedDescription.contains("operation could not be completed"))
        }
    }

    @Test func `Domains are the types' names, without generic arguments`() {
        for domain in Self.errors.map({ ($0 as any Error as NSError).domain }) {
            #expect(["WebServiceClient", "HTTPTransport"].contains(domain.prefix { $0 != "." }) && !domain.contains("<"), "\(domain)")
        }
        #expect((Self.errors[0] as any Error as NSError).domain == "WebServiceClient.ServiceError")
        #expect(DecodedErrorBody<[String: String]>.errorDomain == "WebServiceClient.DecodedErrorBody")
        #expect(URITemplate.ParseError.errorDomain == "WebServiceClient.URITemplate.ParseError")
    }

    @Test(arguments: [
        (ServiceError.Kind.table, 1), (.unknownEndpoint, 2), (.argument, 3), (.encoding, 4), (.request, 5), (.interceptor, 6),
        (.redirect, 7), (.authentication, 8), (.transport, 9), (.timeout, 10), (.bodyTooLarge, 11), (.status, 12), (.refused, 13),
        (.emptyBody, 14), (.format, 15), (.decoding, 16), (.circuitOpen, 17), (.queue, 18), (.rateLimit, 19), (.paging, 21),
        (ServiceError.Kind(rawValue: "own"), 0),
    ])
    func `Codes are those of the documentation`(kind: ServiceError.Kind, code: Int) {
        let cause = TransportError(.tls, "No.")
        let error: any Error = ServiceError(call: Self.call, stage: .chain, kind: kind, message: "x", cause: cause)
        #expect((error as NSError).code == code)
        #expect((error as NSError).userInfo[NSUnderlyingErrorKey] is TransportError)
    }

    @Test(arguments: [
        (TransportError.Code.hostNotFound, 1), (.cannotConnect, 2), (.truncated, 4), (.timedOutTotal, 8), (.tls, 10), (.pinMismatch, 15),
        (.unreadableResponse, 17), (.readerTooSlow, 20), (.other, 0),
    ])
    func `So are those of transports`(kind: TransportError.Code, code: Int) {
        #expect((TransportError(kind, "x") as any Error as NSError).code == code)
    }

    @Test func `A call's error says what the server said`() async throws {
        let (client, _) = Store.stubbed(.json(#"{"message":"Name is taken"}"#, status: 422)) { $0.errorHandler = .decoding(Plain.self) }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.message.contains("Name is taken") && error.message.contains("422"))
        #expect(error.localizedDescription.contains("Name is taken") && error.errorBody is Plain)
    }

    private struct Plain: Decodable, Sendable { var message: String }
    private struct Nested: Decodable, Sendable {
        struct Inner: Decodable, Sendable {
            var code: Int
            var message: String?
        }
        var error: Inner
    }
    private struct Listed: Decodable, Sendable {
        struct Item: Decodable, Sendable { var detail: String }
        var errors: [Item]
    }
    private struct Problem: Decodable, Sendable {
        var type: String
        var title: String
        var detail: String?
    }
    private struct OAuth: Decodable, Sendable {
        var error: String
        var error_description: String?
    }
    private struct Silent: Decodable, Sendable { var code: Int }
    private struct Own: Decodable, Sendable, CustomStringConvertible {
        var code: Int
        var description: String { "code \(code) of our own" }
    }
    private struct Localized: Decodable, LocalizedError, Sendable {
        var code: Int
        var errorDescription: String? { "localized \(code)" }
    }
    private struct Wrapped: Decodable, Sendable {
        enum CodingKeys: String, CodingKey { case failure = "fault" }
        struct Fault: Decodable, Sendable { var faultstring: String, reason: String }
        var failure: Fault
    }
    private final class Model: Decodable, Sendable { let msg: String }

    /// The error texts that various handlers extract from bodies.
    private static let bodies: [(handler: any ErrorHandler, body: String, text: String)] = [
        (ErrorBodyHandler(Plain.self), #"{"message":"Name is taken"}"#, "Name is taken"),
        (ErrorBodyHandler(Plain.self), #"{"message":"Stra\u00dfe fehlt"}"#, "Straße fehlt"),
        (ErrorBodyHandler(Nested.self), #"{"error":{"code":7,"message":"No such order"}}"#, "No such order"),
        (ErrorBodyHandler(Nested.self), #"{"error":{"code":7}}"#, #"{"error":{"code":7}}"#),
        (ErrorBodyHandler(Nested.Inner.self, at: "error"), #"{"error":{"code":7,"message":"No such order"}}"#, "No such order"),
        (ErrorBodyHandler(Listed.self), #"{"errors":[{"detail":"Line 3 is wrong"},{"detail":"x"}]}"#, "Line 3 is wrong"),
        (ErrorBodyHandler(Problem.self), #"{"type":"about:blank","title":"Bad","detail":"Balance too low"}"#, "Balance too low"),
        (ErrorBodyHandler(Problem.self), #"{"type":"about:blank","title":"Out of credit"}"#, "Out of credit"),
        (ErrorBodyHandler(OAuth.self), #"{"error":"invalid_grant","error_description":"Code was used"}"#, "Code was used"),
        (ErrorBodyHandler(OAuth.self), #"{"error":"invalid_grant"}"#, "invalid_grant"),
        (ErrorBodyHandler(Silent.self), #"{"code":7,"text":"Only in the body"}"#, "Only in the body"),
        (ErrorBodyHandler(Own.self), #"{"code":7}"#, "code 7 of our own"),
        (ErrorBodyHandler(Localized.self), #"{"code":7}"#, "localized 7"),
        (ErrorBodyHandler(Wrapped.self), #"{"fault":{"faultstring":"f","reason":"Wrong key"}}"#, "Wrong key"),
        (ErrorBodyHandler(Model.self), #"{"msg":"Of a class"}"#, "Of a class"),
        (ErrorBodyHandler([String: String].self), #"{"a":"b","message":"In a dictionary"}"#, "In a dictionary"),
        (ErrorBodyHandler([Plain].self), #"[{"message":"In a list"}]"#, "In a list"),
        (ErrorBodyHandler(String.self), #""A bare text""#, "A bare text"),
    ]

    @Test(arguments: bodies.indices) func `With a typed body the headline has the server's message`(index: Int) async throws {
        let (handler, body, text) = Self.bodies[index]
        let (client, _) = Store.stubbed(.json(body, status: 400)) { $0.errorHandler = handler }
        let error = try #require(await serviceError { _ = try await client.item(id: 1) })
        #expect(error.kind == .refused && error.message.contains(text) && error.message.contains("400"), "\(error)")
        #expect(error.description.split(separator: "\n").first?.contains(text) == true)
    }
}
