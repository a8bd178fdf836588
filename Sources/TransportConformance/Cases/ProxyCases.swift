import Foundation
import WebServiceClient
import WebServiceTesting

/// Plain HTTP through a proxy.
enum ProxyCases {
    static let all = [
        ConformanceCase("proxies/plain", "A plain request goes to the proxy, with its whole URL.", run: plain),
        ConformanceCase("proxies/credentials", "Proxy-Authorization is sent to the proxy unchanged.", run: credentials),
        ConformanceCase(
            "proxies/challenge", "A proxy's 407 is a response, with its challenge.", needing: .proxyAuthentication, run: challenge),
        ConformanceCase("proxies/none", "Without a proxy, its credentials aren't sent, or are refused as unsupported.", run: none),
        ConformanceCase("proxies/bodies", "Bodies pass a proxy in both directions.", run: bodies),
        ConformanceCase(
            "proxies/statuses", "A proxy's answer to a plain request is an ordinary response, and no redirect is followed.",
            run: statuses),
        ConformanceCase("proxies/absent", "A proxy that isn't listening is cannotConnect.", run: absent),
    ]

    @Sendable private static func plain(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("by proxy")) { proxy in
            let subject = try subject.through(try proxy.url(""))
            guard let url = URL(string: "http://service.invalid:8080/a%20b?c=d") else { throw TestingFailure("There is no such URL") }
            try await subject.expect(200, "by proxy", for: ServiceRequest(url: url))
            let request = try proxy.onlyRequest()
            try demand(request.method, is: "GET", "The method")
            try demand(request.target, is: "http://service.invalid:8080/a%20b?c=d", "The request's target")
            try demand(request.fields["Host"], is: "service.invalid:8080", "Host")
        }
    }

    @Sendable private static func credentials(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("by proxy")) { proxy in
            let subject = try subject.through(try proxy.url(""))
            guard let url = URL(string: "http://service.invalid/") else { throw TestingFailure("There is no such URL") }
            let fields: HTTPFields = ["Proxy-Authorization": "Basic YTpi", "Authorization": "Bearer server"]
            try await subject.expect(200, "by proxy", for: ServiceRequest(url: url, headers: fields))
            let request = try proxy.onlyRequest()
            try demand(request.fields["Proxy-Authorization"], is: "Basic YTpi", "Proxy-Authorization")
            try demand(request.fields["Authorization"], is: "Bearer server", "Authorization")
        }
    }

    @Sendable private static func challenge(_ subject: ConformanceSubject) async throws {
        let refusal = LoopbackResponse.text("who?", status: 407).with("Proxy-Authenticate", "Basic realm=\"p\"")
        try await answering(with: refusal) { proxy in
            let subject = try subject.through(try proxy.url(""))
            guard let url = URL(string: "http://service.invalid/") else { throw TestingFailure("There is no such URL") }
            let response = try await subject.expect(407, "who?", for: ServiceRequest(url: url))
            try demand(response.headers[.proxyAuthenticate], is: "Basic realm=\"p\"", "The challenge")
            try demand(proxy.requests.count, is: 1, "The requests that reached the proxy")
        }
    }

    @Sendable private static func none(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("direct")) { server in
            let request = try server.request(headers: ["Proxy-Authorization": "Basic YTpi"])
            do { _ = try await subject.exchange(request) } catch let error as TransportError where error.code == .unsupported {}
            try demand(!server.requests.contains { $0.fields["Proxy-Authorization"] != nil }, "The server received Proxy-Authorization")
        }
    }

    @Sendable private static func bodies(_ subject: ConformanceSubject) async throws {
        let data = ConformanceBytes.make(100_000)
        try await answering({ .data($0.body) }) { proxy in
            let subject = try subject.through(try proxy.url(""))
            guard let url = URL(string: "http://service.invalid/") else { throw TestingFailure("There is no such URL") }
            for body in [RequestBody(data), .pieces(of: data, by: 7_000)] {
                let (_, back) = try await subject.exchange(ServiceRequest(method: .put, url: url, body: body))
                try demand(back, is: data, "The echoed body")
            }
        }
    }

    @Sendable private static func statuses(_ subject: ConformanceSubject) async throws {
        for status in [302, 307, 403, 502, 504] {
            let answer = LoopbackResponse.text("by proxy", status: status).with("Location", "http://elsewhere.invalid/")
            try await answering(with: answer) { proxy in
                let subject = try subject.through(try proxy.url(""))
                guard let url = URL(string: "http://service.invalid/") else { throw TestingFailure("There is no such URL") }
                let response = try await subject.expect(status, "by proxy", for: ServiceRequest(url: url), "\(status)")
                try demand(!response.isTunnelRefusal, "\(status) counts as a tunnel refusal without a tunnel")
                try demand(try proxy.onlyRequest().fields["Host"], is: "service.invalid", "Host")
            }
        }
    }

    @Sendable private static func absent(_ subject: ConformanceSubject) async throws {
        let port = try LoopbackPort(.closed)
        guard let proxy = URL(string: "http://127.0.0.1:\(port.number)") else { throw TestingFailure("There is no such URL") }
        let subject = try subject.through(proxy)
        for scheme in ["http", "https"] {
            guard let url = URL(string: "\(scheme)://service.invalid/") else { throw TestingFailure("There is no such URL") }
            try await subject.expect(.cannotConnect, for: ServiceRequest(url: url), scheme)
        }
        withExtendedLifetime(port) {}
    }
}
