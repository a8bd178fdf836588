import Foundation

// log-probe write FOLDER URL COUNT             logs COUNT records to FOLDER/spool and ships them; FOLDER/accepted lists the spooled ones
// log-probe finish FOLDER URL                  ships the stored records
// log-probe endure FOLDER URL SECONDS BYTES    logs 1,000 records a second despite faults, to a spool of at most BYTES
// log-probe outage FOLDER away|slow|nospool|held SECONDS
//                                              logs 10,000 records a second, by an accelerated clock, without a real receiver; prints
//                                              memory and disk
//
// Each prints its accounts, and fails if they don't add up. The first two also fail if a record isn't delivered.

let arguments = Array(CommandLine.arguments.dropFirst())
func probe(_ diskBytes: Int) throws -> LogProbe { try LogProbe(folder: arguments[1], url: arguments[2], diskBytes: diskBytes) }
func end(_ isWell: Bool) -> Never { exit(isWell ? 0 : 3) }

switch (arguments.first, arguments.count) {
case ("write", 4):
    var writing = try probe(128 << 10)
    end(await writing.write(Int(arguments[3]) ?? 100))
case ("finish", 3): end(try await probe(128 << 10).finish())
case ("endure", 5):
    var enduring = try probe(Int(arguments[4]) ?? 8 << 20)
    end(try await enduring.endure(Double(arguments[3]) ?? 2, perSecond: 1_000))
case ("outage", 4):
    let trouble = OutageProbe.Trouble(rawValue: arguments[2]) ?? .away
    try await OutageProbe(folder: arguments[1], trouble: trouble, seconds: Int(arguments[3]) ?? 120).run()
default:
    print("usage: log-probe write FOLDER URL COUNT | finish FOLDER URL | endure FOLDER URL SECONDS BYTES")
    print("       log-probe outage FOLDER away|slow|nospool|held SECONDS")
    exit(2)
}
