import Foundation
import TestSupport
import Testing
import WebServiceClient

/// An independent syslog server, running on the loopback interface with its own files.
final class SyslogJudge: Sendable {
    enum Kind: String, CaseIterable, Sendable, CustomTestStringConvertible {
        case rsyslog, syslogNG

        var testDescription: String { rawValue }

        /// The path of the program; `nil` if it isn't installed. The variable `SYSLOG_NG_ROOT` names a folder with the unpacked Debian
        /// package, which can't be installed together with rsyslog.
        var program: String? {
            let root = self == .syslogNG ? ProcessInfo.processInfo.environment["SYSLOG_NG_ROOT"] ?? "" : ""
            let name = self == .rsyslog ? "rsyslogd" : "syslog-ng"
            return ["/usr/sbin/", "/usr/local/sbin/", "/usr/bin/"].map { root + $0 + name }.first {
                FileManager.default.isExecutableFile(atPath: $0)
            }
        }

        /// Whether the server supports TLS, which is a module in a separate package for rsyslog.
        var speaksTLS: Bool {
            guard self == .rsyslog, program != nil else { return program != nil }
            let folders = (try? FileManager.default.contentsOfDirectory(atPath: "/usr/lib")) ?? []
            return (folders.map { "/usr/lib/\($0)/rsyslog" } + ["/usr/lib/rsyslog", "/usr/lib64/rsyslog"]).contains {
                FileManager.default.fileExists(atPath: $0 + "/lmnsd_ossl.so")
            }
        }
    }

    /// A message as the server has parsed it.
    struct Message: Equatable, Sendable {
        var priority = ""
        var host = ""
        var application = ""
        var process = ""
        var id = ""
        var text = ""
        /// The parameters of structured data by `id/name`.
        var parameters: [String: String] = [:]
    }

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    let kind: Kind
    let port: UInt16
    private let folder: URL
    private let process: RunningProcess

    /// - Parameter certificates: For TLS, with clients of the same authority; plain TCP by default.
    init(_ kind: Kind, program: String, certificates: TLSCertificates? = nil) async throws {
        self.kind = kind
        folder = URL.temporaryDirectory.appending(path: "syslog-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        let path = folder.path(percentEncoded: false)
        // A currently free port; if another process takes it, the start fails.
        let probe = try TCPReceiver()
        probe.stop()
        let free = probe.port
        try await Task.sleep(for: .milliseconds(100))
        switch kind {
        case .rsyslog:
            try Self.rsyslog(path, certificates).write(toFile: path + "/conf", atomically: true, encoding: .utf8)
            process = try RunningProcess([program, "-n", "-f", path + "/conf", "-i", path + "/pid"])
        case .syslogNG:
            try Self.syslogNG(path, free, certificates).write(toFile: path + "/conf", atomically: true, encoding: .utf8)
            var arguments = [
                "-F", "-f", path + "/conf", "--persist-file=\(path)/persist", "--control=\(path)/control", "--pidfile=\(path)/pid",
                "--no-caps",
            ]
            var environment: [String: String]?
            if let root = ProcessInfo.processInfo.environment["SYSLOG_NG_ROOT"], program.hasPrefix(root) {
                arguments += ["--module-path=\(root)/usr/lib/syslog-ng/3.38"]
                environment = [
                    "LD_LIBRARY_PATH": "\(root)/usr/lib/syslog-ng:\(root)/usr/lib/x86_64-linux-gnu:\(root)/lib/x86_64-linux-gnu"
                ]
            }
            process = try RunningProcess([program] + arguments, environment: environment)
        }
        let isRsyslog = kind == .rsyslog
        let found = Locked<UInt16?>(nil)
        let isUp = await eventually {
            guard isRsyslog else {
                found.withLock { $0 = free }
                return true
            }
            let text = try? String(contentsOfFile: path + "/port", encoding: .utf8)
            found.withLock { $0 = text.flatMap { UInt16($0.trimmingCharacters(in: .whitespacesAndNewlines)) } }
            return found.withLock { $0 } != nil
        }
        guard isUp, let port = found.withLock({ $0 }) else {
            process.kill()
            throw Failure(description: "\(program) doesn't start")
        }
        self.port = port
    }

    func stop() {
        process.kill()
        try? FileManager.default.removeItem(at: folder)
    }

    private static func rsyslog(_ path: String, _ certificates: TLSCertificates?) -> String {
        let files =
            certificates.map {
                """
                defaultNetstreamDriverCAFile="\($0.path("root.pem"))" defaultNetstreamDriverCertFile="\($0.path("server.pem"))" \
                defaultNetstreamDriverKeyFile="\($0.path("server.key"))"
                """
            } ?? ""
        let driver = certificates == nil ? "" : #"streamDriver.name="ossl" streamDriver.mode="1" streamDriver.authMode="x509/certvalid""#
        return """
            global(workDirectory="\(path)" maxMessageSize="64k" parser.escapeControlCharactersOnReceive="off" net.enableDNS="off" \(files))
            module(load="imtcp" \(driver))
            module(load="mmpstrucdata")
            template(name="lines" type="list" option.jsonf="on") {
              property(outname="priority" name="pri" format="jsonf")
              property(outname="host" name="hostname" format="jsonf")
              property(outname="application" name="app-name" format="jsonf")
              property(outname="process" name="procid" format="jsonf")
              property(outname="id" name="msgid" format="jsonf")
              property(outname="text" name="msg" format="jsonf")
              property(outname="data" name="$!rfc5424-sd" format="jsonf")
            }
            ruleset(name="in") {
              action(type="mmpstrucdata" sd_name.lowercase="off")
              action(type="omfile" file="\(path)/out" template="lines")
            }
            input(type="imtcp" port="0" address="127.0.0.1" listenPortFileName="\(path)/port" ruleset="in" supportOctetCountedFraming="on")

            """
    }

    private static func syslogNG(_ path: String, _ port: UInt16, _ certificates: TLSCertificates?) -> String {
        let transport =
            certificates.map {
                """
                transport("tls") tls(key-file("\($0.path("server.key"))") cert-file("\($0.path("server.pem"))") \
                ca-file("\($0.path("root.pem"))") peer-verify(required-trusted))
                """
            } ?? #"transport("tcp")"#
        return """
            @version: 3.38
            options { keep-hostname(yes); use-dns(no); dns-cache(no); log-msg-size(65536); flush-lines(1); stats-freq(0); };
            source s { syslog(ip("127.0.0.1") port(\(port)) \(transport)); };
            template t { template("$(format-json priority=$PRI host=$HOST application=$PROGRAM process=$PID id=$MSGID text=$MESSAGE --key .SDATA.*)\\n"); };
            destination d { file("\(path)/out" template(t)); };
            log { source(s); destination(d); };

            """
    }

    private var output: Data { FileManager.default.contents(atPath: folder.path(percentEncoded: false) + "/out") ?? Data() }

    /// The number of messages so far: counting them is faster than parsing them.
    var lines: Int { output.count { $0 == UInt8(ascii: "\n") } }

    /// The messages so far, in order.
    var messages: [Message] {
        output.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let object = try? JSONSerialization.jsonObject(with: line) as? [String: Any] else { return nil }
            func text(_ name: String) -> String { object[name] as? String ?? (object[name] as? NSNumber)?.stringValue ?? "" }
            var message = Message(
                priority: text("priority"), host: text("host"), application: text("application"), process: text("process"), id: text("id"),
                text: text("text"))
            // syslog-ng strips the byte order mark, rsyslog keeps it.
            if message.text.unicodeScalars.first == "\u{FEFF}" { message.text.unicodeScalars.removeFirst() }
            let data: Any? =
                kind == .rsyslog ? (try? JSONSerialization.jsonObject(with: Data(text("data").utf8))) : object["_SDATA"]
            for (id, parameters) in data as? [String: Any] ?? [:] { Self.flatten(parameters, id + "/", into: &message.parameters) }
            return message
        }
    }

    private static func flatten(_ value: Any, _ prefix: String, into parameters: inout [String: String]) {
        guard let values = value as? [String: Any] else {
            parameters[prefix] = value as? String ?? (value as? NSNumber)?.stringValue
            return
        }
        for (name, value) in values { flatten(value, prefix.hasSuffix("/") ? prefix + name : prefix + "." + name, into: &parameters) }
    }
}
