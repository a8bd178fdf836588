import Foundation
import WebServiceClient

// cache-peer-probe ROOT: reads requests below the service root from standard input, a line of JSON each ({"id": …, "method": …, "url": …,
// "headers": [[name, value], …], "body": …}), makes each call at once, with one cache for all, and prints the answers as lines of JSON.

struct Input: Decodable, Sendable {
    let id: Int
    let method: String
    let url: URL
    let headers: [[String]]
    let body: String?
}

struct Output: Encodable {
    let id: Int
    var status = 0
    var headers: [[String]] = []
    var body = ""
    var error: String?
}

/// Prints a line at once, although it goes to a pipe.
func say(_ text: String) { FileHandle.standardOutput.write(Data((text + "\n").utf8)) }

guard CommandLine.arguments.count == 2 else {
    FileHandle.standardError.write(Data("usage: cache-peer-probe ROOT\n".utf8))
    exit(2)
}

let client = WebServiceClient(serviceRoot: CommandLine.arguments[1]) {
    $0.cache = ResponseCache()
    $0.redirects = .stop
    // Some cases lose the connection, and expect that the cache goes on without the server.
    $0.attributes[OfflineCaching.self] = OfflineCaching(upTo: .seconds(86_400))
}

@Sendable func answer(to input: Input) async -> Output {
    var output = Output(id: input.id)
    var call = client.http.request(ServiceRequest.Method(rawValue: input.method), link: input.url).accepting(.any)
    if let body = input.body { call = call.body(Data(body.utf8)) }
    call = call.prepare { request in
        for field in input.headers where field.count == 2 { request.headers.append(HTTPFields.Name(field[0]), field[1]) }
    }
    do {
        let response = try await call.response(Data.self)
        output.status = response.status
        output.headers = response.headers.map { [$0.name.rawName, $0.value] }
        output.body = String(decoding: response.value, as: UTF8.self)
    } catch {
        output.error = "\(error)"
    }
    return output
}

await withTaskGroup(of: Void.self) { calls in
    while let line = readLine() {
        guard let input = try? JSONDecoder().decode(Input.self, from: Data(line.utf8)) else {
            say("{\"id\": 0, \"error\": \"the line can't be read\"}")
            continue
        }
        calls.addTask {
            let output = await answer(to: input)
            if let data = try? JSONEncoder().encode(output) { say(String(decoding: data, as: UTF8.self)) }
        }
    }
}
