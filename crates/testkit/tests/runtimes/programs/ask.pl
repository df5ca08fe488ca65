# Asks for a URL with the key, and prints the answer.
use strict;
use warnings;
use LWP::UserAgent;

my $client = LWP::UserAgent->new(timeout => 20);
my $answer = $client->get($ARGV[0], Authorization => "Bearer $ENV{TOKEN}");
die $answer->status_line . "\n" unless $answer->is_success;
print $answer->decoded_content;
