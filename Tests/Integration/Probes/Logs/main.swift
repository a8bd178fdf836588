import Foundation

// log-probe write FOLDER URL COUNT             logs COUNT records into FOLDER/spool and ships them; FOLDER/accepted tells what the spool has
// log-probe finish FOLDER URL                  ships what is there
// log-probe endure FOLDER URL SECONDS BYTES    logs 1,000 records a second through whatever happens, into a spool of at most BYTES
// log-probe outage FOLDER away|slow|nospool|held SECONDS
//                                              logs 10,000 records a second, by a clock in a hurry, to nobody; prints memory and disk
//
// Each prints its accounts, and ends with another status than 0 when they don't add up, the first two also when not all was delivered.

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
